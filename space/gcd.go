package space

// GCD is the greatest common divisor of two numbers that are not both 0.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
