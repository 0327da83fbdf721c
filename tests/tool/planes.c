/* The bytes of elements packed: by planes, the first bytes of all elements, the second ones, and so
   on, because the bytes of an exponent have likes only among each other. A byte in front says which
   planes are deflated (bit I: plane I), each a stream of its own without a header; the others stand
   as they are. */
#include "planes.h"

#include <stdlib.h>
#include <zlib.h>

enum { RAW_WINDOW = -15, MOST_MEMORY = 9 };

/* The bytes deflated, appended; without looking for repetitions where that is shorter. */
static void put_deflated(struct buffer *buffer, unsigned char *bytes, size_t size)
{
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY};
    unsigned char *best = NULL;
    size_t best_size = 0;
    for (int i = 0; i < 2; i++) {
        z_stream stream = {.next_in = bytes, .avail_in = (uInt)size};
        if (deflateInit2(&stream, 9, Z_DEFLATED, RAW_WINDOW, MOST_MEMORY, strategies[i]) != Z_OK) {
            die("out of memory");
        }
        uLong bound = deflateBound(&stream, size);
        unsigned char *packed = new_memory(bound);
        stream.next_out = packed;
        stream.avail_out = (uInt)bound;
        deflate(&stream, Z_FINISH);
        if (!best || stream.total_out < best_size) {
            free(best);
            best = packed;
            best_size = stream.total_out;
        } else {
            free(packed);
        }
        deflateEnd(&stream);
    }
    put_bytes(buffer, best, best_size);
    free(best);
}

void put_planes(struct buffer *buffer, const void *bytes, size_t size, size_t width)
{
    struct buffer planes = {0};
    unsigned char deflated = 0, *plane = new_memory(size);
    for (size_t i = 0; i < width; i++) {
        size_t n = 0, begin = planes.size;
        for (size_t at = i; at < size; at += width) {
            plane[n++] = ((const unsigned char *)bytes)[at];
        }
        put_deflated(&planes, plane, n);
        if (planes.size - begin < n) {
            deflated |= (unsigned char)(1 << i);
        } else {
            planes.size = begin;
            put_bytes(&planes, plane, n);
        }
    }
    put_bytes(buffer, &deflated, 1);
    put_bytes(buffer, planes.data, planes.size);
    free(planes.data);
    free(plane);
}

/* The N bytes of a plane that begins at *AT, which moves behind it; false where they are not as
 * many. */
static bool read_plane(const struct buffer *packed, size_t *at, bool is_deflated,
                       unsigned char *plane, size_t n)
{
    z_stream stream = {.next_in = (unsigned char *)packed->data + *at,
                       .avail_in = (uInt)(packed->size - *at),
                       .next_out = plane,
                       .avail_out = (uInt)n};
    if (!is_deflated) {
        bool is_there = packed->size - *at >= n;
        for (size_t i = 0; is_there && i < n; i++) {
            plane[i] = (unsigned char)packed->data[(*at)++];
        }
        return is_there;
    }
    bool is_whole = inflateInit2(&stream, RAW_WINDOW) == Z_OK &&
                    inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == n;
    *at += stream.total_in;
    inflateEnd(&stream);
    return is_whole;
}

bool put_from_planes(struct buffer *buffer, const struct buffer *packed, size_t size, size_t width)
{
    unsigned char *bytes = new_memory(size), *plane = new_memory(size);
    bool is_good = packed->size > 0 && size % width == 0;
    size_t at = 1;
    for (size_t i = 0; is_good && i < width; i++) {
        is_good = read_plane(packed, &at, packed->data[0] >> i & 1, plane, size / width);
        for (size_t j = 0; j < size / width; j++) {
            bytes[j * width + i] = plane[j];
        }
    }
    put_bytes(buffer, bytes, size);
    free(bytes);
    free(plane);
    return is_good && at == packed->size;
}

/* ---- texts ---- */

enum { SIZE_BYTES = 4, SIZE_MOST = 1 << 26 };

void put_deflated_text(struct buffer *buffer, const char *text, size_t size)
{
    for (int i = 0; i < SIZE_BYTES; i++) {
        const unsigned char byte = (unsigned char)(size >> 8 * i);
        put_bytes(buffer, &byte, 1);
    }
    put_planes(buffer, text, size, 1);
}

bool put_from_deflated_text(struct buffer *buffer, const struct buffer *deflated)
{
    size_t size = 0;
    if (deflated->size < SIZE_BYTES) {
        return false;
    }
    for (int i = 0; i < SIZE_BYTES; i++) {
        size |= (size_t)(unsigned char)deflated->data[i] << 8 * i;
    }
    const struct buffer planes = {.data = deflated->data + SIZE_BYTES,
                                  .size = deflated->size - SIZE_BYTES};
    return size <= SIZE_MOST && put_from_planes(buffer, &planes, size, 1);
}
