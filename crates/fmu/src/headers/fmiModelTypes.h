/* The basic data types of FMI 1.0 for Model Exchange, as they cross the binary interface between an FMU and its importer.
 *
 * Written for vecud from the application binary interface of the standard: Booleans are C `char`. Sources inside an FMU
 * include this file, usually through fmiModelFunctions.h. */

#ifndef fmiModelTypes_h
#define fmiModelTypes_h

/* What fmiGetModelTypesPlatform returns, where the types are these. */
#define fmiModelTypesPlatform "standard32"

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
