/* The basic data types of FMI 1.0 for Co-Simulation, as they cross the binary interface between an FMU and its importer.
 *
 * Written for vecud from the application binary interface of the standard: Booleans are C `char`. Sources inside an FMU
 * include this file, usually through fmiFunctions.h. */

#ifndef fmiPlatformTypes_h
#define fmiPlatformTypes_h

/* What fmiGetTypesPlatform returns, where the types are these. */
#define fmiPlatform "standard32"

typedef void *fmiComponent; /* opaque, made by the FMU */

typedef unsigned int fmiValueReference; /* names a variable of the model description */

typedef double fmiReal;
typedef int fmiInteger;
typedef char fmiBoolean;
typedef const char *fmiString; /* UTF-8, ends with a zero byte */

#define fmiTrue 1
#define fmiFalse 0

/* The reference of no variable. */
#define fmiUndefinedValueReference ((fmiValueReference)-1)

#endif
