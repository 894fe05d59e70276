// Runs the kernels of `texels.ptx` for each case on standard input, and prints the case and what its kernel wrote. On a
// GPU: `nvcc -o texels texels.cpp -lcuda && ./texels texels.ptx < texels.txt > again.txt`, which reads the cases of the
// lines of `texels.txt` that have a kernel's name. `emulator/texels.rs` does the same with the emulator.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult result = call;                                                                                        \
        if (result) {                                                                                                  \
            std::printf("error %d of line %d\n", (int)result, __LINE__);                                               \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

static uint32_t mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

// The channel with this number of memory.
static uint32_t channel_bits(const std::string &kind, uint32_t number) {
    uint32_t any = mix(number + 1);
    float value = (float)number;
    if (kind == "bits") return any;
    if (kind == "edge") return any % 2 ? 0x8000 : any % 3 ? 0x80 : any;
    if (kind == "wild") return (any & 0x807fffff) | (107 + mix(any) % 40) << 23;
    if (kind == "denormal") return any & 0x807fffff;
    if (kind == "one") value = number == 1 ? 1.0f : 0.0f;
    if (kind == "inf") return number == 1 ? 0x7f800000 : 0x3f800000;
    // The smallest numbers, with some that are not normal.
    if (kind == "tiny") return (any & 0x807fffff) | mix(any) % 10 << 23;
    if (kind == "nan") return number == 1 ? 0xffc12345 : 0x3f800000;
    if (kind == "noise") value = (float)(int32_t)any / 2147483648.0f;
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}

struct Case {
    // `array`, `surface`, `pitch` or `linear`.
    std::string kernel, memory, channel, filter, addressing, coordinates, values, data;
    int channels, width, height, depth, layers, unit, threads, words;
};

static std::istream &operator>>(std::istream &in, Case &c) {
    return in >> c.kernel >> c.memory >> c.channel >> c.channels >> c.width >> c.height >> c.depth >> c.layers >>
           c.filter >> c.addressing >> c.coordinates >> c.values >> c.data >> c.unit >> c.threads >> c.words;
}

static void run(CUmodule module, const std::string &line) {
    Case c;
    std::istringstream(line) >> c;
    int bytes = std::atoi(c.channel.c_str() + 1) / 8, texel = bytes * c.channels;
    CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
                                CU_AD_FORMAT_SIGNED_INT8,    CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32};
    CUarray_format format = c.channel[0] == 'f' ? CU_AD_FORMAT_FLOAT : formats[(c.channel[0] == 'i') * 3 + bytes / 2];
    size_t rows = c.height ? c.height : 1, slices = c.depth ? c.depth : c.layers ? c.layers : 1;
    size_t size = (size_t)texel * c.width * rows * slices;
    std::vector<uint8_t> data((size + 3) / 4 * 4);
    for (size_t i = 0; i < size / bytes; i++) {
        uint32_t word = channel_bits(c.data, i);
        std::memcpy(&data[i * bytes], &word, bytes);
    }
    bool is_array = c.memory == "array" || c.memory == "surface", is_surface = c.memory == "surface";
    CUDA_RESOURCE_DESC resource = {};
    CUDA_MEMCPY3D copy = {};
    CUarray array = nullptr;
    CUdeviceptr pointer = 0;
    if (is_array) {
        CUDA_ARRAY3D_DESCRIPTOR description = {};
        description.Width = c.width;
        description.Height = c.height;
        description.Depth = c.depth ? c.depth : c.layers;
        description.Format = format;
        description.NumChannels = c.channels;
        description.Flags = (c.layers ? CUDA_ARRAY3D_LAYERED : 0) | (is_surface ? CUDA_ARRAY3D_SURFACE_LDST : 0) |
                            (c.kernel.find("gather") == 0 ? CUDA_ARRAY3D_TEXTURE_GATHER : 0);
        CHECK(cuArray3DCreate(&array, &description));
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = data.data();
        copy.srcPitch = (size_t)texel * c.width;
        copy.srcHeight = rows;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array;
        copy.WidthInBytes = (size_t)texel * c.width;
        copy.Height = rows;
        copy.Depth = slices;
        CHECK(cuMemcpy3D(&copy));
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = array;
    } else {
        CHECK(cuMemAlloc(&pointer, data.size()));
        CHECK(cuMemcpyHtoD(pointer, data.data(), data.size()));
        if (c.memory == "pitch") {
            resource.resType = CU_RESOURCE_TYPE_PITCH2D;
            resource.res.pitch2D = {pointer, format, (unsigned)c.channels, (size_t)c.width, rows, (size_t)texel * c.width};
        } else {
            resource.resType = CU_RESOURCE_TYPE_LINEAR;
            resource.res.linear = {pointer, format, (unsigned)c.channels, size};
        }
    }
    CUtexObject handle = 0;
    if (is_surface) {
        CHECK(cuSurfObjectCreate(&handle, &resource));
    } else {
        CUDA_TEXTURE_DESC texture = {};
        CUaddress_mode mode = c.addressing == "wrap"     ? CU_TR_ADDRESS_MODE_WRAP
                              : c.addressing == "mirror" ? CU_TR_ADDRESS_MODE_MIRROR
                              : c.addressing == "border" ? CU_TR_ADDRESS_MODE_BORDER
                                                         : CU_TR_ADDRESS_MODE_CLAMP;
        // The GPU reads a row as it reads a plane of one row: outside of that row, too, if the mode says so.
        int dimensions = c.depth ? 3 : c.height ? 2 : 1;
        for (int side = 0; side < 3; side++)
            texture.addressMode[side] = side < dimensions ? mode : CU_TR_ADDRESS_MODE_CLAMP;
        texture.filterMode = c.filter == "linear" ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        texture.flags = (c.values == "plain" ? CU_TRSF_READ_AS_INTEGER : 0) |
                        (c.coordinates == "normalized" ? CU_TRSF_NORMALIZED_COORDINATES : 0);
        CHECK(cuTexObjectCreate(&handle, &resource, &texture, nullptr));
    }
    // `Sides` of the kernels. A surface's width counts the elements that are accessed.
    int side = c.unit ? c.width * texel / c.unit : c.width;
    int sides[6] = {side, c.height, c.depth, c.layers, c.coordinates == "normalized", c.words};
    bool stores = c.kernel.find("sust") == 0;
    std::vector<uint32_t> words((size_t)c.threads * c.words);
    CUdeviceptr out;
    CHECK(cuMemAlloc(&out, words.size() * 4));
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, module, c.kernel.c_str()));
    void *arguments[] = {&handle, &out, sides};
    int block = stores ? 1 : c.threads < 32 ? c.threads : 32;
    CHECK(cuLaunchKernel(function, stores ? 1 : c.threads / block, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cuCtxSynchronize());
    if (stores) {
        copy.dstArray = nullptr;
        std::swap(copy.srcMemoryType, copy.dstMemoryType);
        copy.srcHost = nullptr;
        copy.srcArray = array;
        copy.dstHost = data.data();
        copy.dstPitch = copy.srcPitch;
        copy.dstHeight = rows;
        CHECK(cuMemcpy3D(&copy));
        words.resize(data.size() / 4);
        std::memcpy(words.data(), data.data(), data.size());
    } else {
        CHECK(cuMemcpyDtoH(words.data(), out, words.size() * 4));
    }
    std::printf("%s\n", line.c_str());
    for (size_t i = 0; i < words.size(); i++)
        std::printf("%08x%c", words[i], i % 16 == 15 || i + 1 == words.size() ? '\n' : ' ');
    CHECK(is_surface ? cuSurfObjectDestroy(handle) : cuTexObjectDestroy(handle));
    CHECK(cuMemFree(out));
    if (array) CHECK(cuArrayDestroy(array));
    if (pointer) CHECK(cuMemFree(pointer));
}

int main(int count, char **paths) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, count > 1 ? paths[1] : "texels.ptx"));
    for (std::string line; std::getline(std::cin, line);)
        if (line.find('_') != std::string::npos) run(module, line);
}
