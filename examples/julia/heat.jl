# Runs the kernels of an image (tune emit --format cubin, or ptx) by what FILE.json says of them, on arrays of CUDA.jl.
# It ran with Julia 1.5.3 and JSON.jl 0.20 on a stand-in for CUDA.jl that has the signatures of its version 5 and arrays of the host. It was NOT RUN on a GPU yet.
#
#     tune emit --config ../shipped/jacobi3d.json --format cubin -o jacobi3d.cubin
#     julia heat.jl jacobi3d.cubin [STEPS]        # needs the packages CUDA and JSON
#
# For stencils of one float32 field and nothing else, on the grid that was tuned for. Julia's arrays are the kernels': x first.
using CUDA, JSON

struct Image
    kernels::Vector{Any} # as FILE.json has them, the tuned one first
    functions::Dict{String,CuFunction}
    size::Vector{Int}
end

function Image(file)
    doc = JSON.parsefile(file * ".json")
    doc["format"] == "stenciltune.geometry/v1" && doc["dtype"] == "float32" && length(doc["fields"]) == 1 ||
        error("want a stenciltune.geometry/v1 of one float32 field")
    image, functions = CuModuleFile(file), Dict{String,CuFunction}()
    for kernel in doc["kernels"], stage in kernel["stages"]
        f = CuFunction(image, stage["entry"])
        attributes(f)[CUDA.FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = kernel["shared_bytes"]
        functions[stage["entry"]] = f
    end
    Image(doc["kernels"], functions, doc["size"])
end

# One parameter of a stage: its type and value.
function parameter(p, now, new, size)
    p["holds"] == "field" && return CuPtr{Cfloat}, now
    p["holds"] == "new_field" && return CuPtr{Cfloat}, new
    p["holds"] == "extent" && return Cint, get(size, p["index"] + 1, 1)
    error("no value for a parameter that holds $(p["holds"])")
end

# Advances now by so many steps, with new to work in, and returns the one of them that has the answer.
function advance(image::Image, now::CuArray{Float32}, new::CuArray{Float32}, steps)
    tuned = first(image.kernels)
    rest = image.kernels[findfirst(k -> k["steps_per_launch"] == 1, image.kernels)]
    while steps > 0
        kernel = steps >= tuned["steps_per_launch"] ? tuned : rest
        for stage in kernel["stages"]
            list = [parameter(p, now, new, image.size) for p in stage["parameters"]]
            cudacall(image.functions[stage["entry"]], Tuple{first.(list)...}, last.(list)...;
                     blocks=Tuple(Int.(kernel["grid"])), threads=Tuple(Int.(kernel["block"])), shmem=kernel["shared_bytes"])
            now, new = new, now # what a stage wrote is the field from then on
        end
        steps -= kernel["steps_per_launch"]
    end
    now
end

function main(file, steps="10")
    image = Image(file)
    start = zeros(Float32, image.size...)
    start[length(start) ÷ 2 + 1] = 1
    answer = advance(image, CuArray(start), CUDA.zeros(Float32, image.size...), parse(Int, steps))
    total = sum(Array(answer))
    println("$(first(image.kernels)["schedule"]): the sum of all cells is $total")
    abs(total - 1) < 1e-4 || exit(1)
end

main(ARGS...)
