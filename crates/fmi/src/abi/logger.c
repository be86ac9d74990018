/* The loggers of FMI 2.0 and 1.0. FMUs call them like printf, and a function with arguments like that cannot be defined in Rust.
   They print a message into a buffer of their own, cut where that ends, and hand it on; nothing else happens here. */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum { ROOM = 2048 };

/* Of Rust: whether all that a format asks for can be printed, and where messages go. */
bool vecud_is_printable(const char *format);
void vecud_logged_fmi2(void *environment, int status, const char *category, const char *message);
void vecud_logged_fmi1(int status, const char *category, const char *message);

/* A message that is not printed stands as its format has it. */
static const char *printed(char room[ROOM], const char *format, va_list arguments)
{
    if (!vecud_is_printable(format)) return format;
    /* Nobody can look how many arguments there are: an FMU that leaves out what a `%s` asks for has whatever lies there taken for the
       address of a text, and may crash in here. That is inside its own call, and the report of the crash says which one that was. */
    return vsnprintf(room, ROOM, format, arguments) < 0 ? format : room;
}

void vecud_log_fmi2(void *environment, const char *instance_name, int status, const char *category, const char *format, ...)
{
    char room[ROOM];
    va_list arguments;
    (void)instance_name;
    va_start(arguments, format);
    vecud_logged_fmi2(environment, status, category, printed(room, format, arguments));
    va_end(arguments);
}

void vecud_log_fmi1(void *component, const char *instance_name, int status, const char *category, const char *format, ...)
{
    char room[ROOM];
    va_list arguments;
    (void)component;
    (void)instance_name;
    va_start(arguments, format);
    vecud_logged_fmi1(status, category, printed(room, format, arguments));
    va_end(arguments);
}
