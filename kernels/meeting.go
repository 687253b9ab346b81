package kernels

import _ "embed"

//go:embed meeting.cu
var meetingText string

//go:embed meeting_split.cu
var splitText string

// MeetingPiece is the text of where the warps of a block meet in each plane step. Split, they arrive there and wait for others later: that text
// comes after CopiesPiece's, and asks for the constant BANDS, of which each has a thread that arrives for it.
func MeetingPiece(split bool) Piece {
	if split {
		return Piece{File: "kernels/meeting_split.cu", Text: splitText}
	}
	return Piece{File: "kernels/meeting.cu", Text: meetingText}
}

// SplitBytes is the shared memory of warps that arrive and wait in two steps, before everything else.
const SplitBytes = 128

// SplitDoc is the comment of the constant SPLIT.
const SplitDoc = "1 = warps arrive at the barrier of a plane step and wait for others later"
