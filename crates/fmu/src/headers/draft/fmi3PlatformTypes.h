/* The basic data types of the draft of FMI 3.0 (January 2021, after 3.0-alpha.5), as they cross the binary interface
 * between an FMU and its importer.
 *
 * Written for vecud from the application binary interface of that text: a Boolean is a `char`, a clock an `int`, a byte
 * a `char`. Sources inside an FMU include this file, usually through fmi3Functions.h. */

#ifndef fmi3PlatformTypes_h
#define fmi3PlatformTypes_h

#include <stdint.h>

/* Opaque handles. Each side only ever hands the other's handle back. */
typedef void *fmi3Instance;            /* made by the FMU */
typedef void *fmi3InstanceEnvironment; /* made by the importer, an argument of its callbacks */
typedef void *fmi3FMUState;            /* a saved state, made by the FMU */

typedef unsigned int fmi3ValueReference; /* names a variable of the model description */

typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef char fmi3Boolean; /* anything but 0 counts as true */
typedef int fmi3Clock;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String; /* UTF-8, ends with a zero byte */
typedef char fmi3Byte;
typedef const fmi3Byte *fmi3Binary; /* its length travels beside it */

#define fmi3True 1
#define fmi3False 0
#define fmi3ClockActive 1
#define fmi3ClockInactive 0

#endif
