/* The basic data types of FMI 2.0, as they cross the binary interface between an FMU and its importer.
 *
 * Written for vecud from the application binary interface of the standard (2.0 to 2.0.5): Booleans are C `int`, a byte
 * is a C `char`. Sources inside an FMU include this file, usually through fmi2Functions.h. */

#ifndef fmi2TypesPlatform_h
#define fmi2TypesPlatform_h

/* What fmi2GetTypesPlatform returns, where the types are these. */
#define fmi2TypesPlatform "default"

/* Opaque handles. Each side only ever hands the other's handle back. */
typedef void *fmi2Component;            /* made by the FMU */
typedef void *fmi2ComponentEnvironment; /* made by the importer, an argument of its callbacks */
typedef void *fmi2FMUstate;             /* a saved state, made by the FMU */

typedef unsigned int fmi2ValueReference; /* names a variable of the model description */

typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String; /* UTF-8, ends with a zero byte */
typedef char fmi2Byte;

#define fmi2True 1
#define fmi2False 0

#endif
