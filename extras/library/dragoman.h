/* Dragoman's translator in C: a model in memory that translates lines on the CPU. The functions
 * call those of translator.h, which says what options there are. Texts are UTF-8 and end with a
 * zero byte. Options are "name=value", and NULL ends their list; NULL instead of a list means no
 * options. */
#ifndef DRAGOMAN_DRAGOMAN_H
#define DRAGOMAN_DRAGOMAN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model that stays in memory. Many threads may share one. */
typedef struct dragoman_translator dragoman_translator;
/* The translations of lines. Its texts live as long as it does. */
typedef struct dragoman_translations dragoman_translations;

/* "0.1.0" */
const char* dragoman_version(void);
/* Why the last call of this thread that returned NULL failed. The text stays until the next one
 * fails. */
const char* dragoman_error(void);

/* Opens a run folder or a model file. Returns NULL after an error. */
dragoman_translator* dragoman_open(const char* model, const char* const* options);
/* NULL is allowed. No later call may use the translator. */
void dragoman_close(dragoman_translator* translator);

/* Translates `count` lines and returns when all are finished. Returns NULL after an error. */
dragoman_translations* dragoman_translate(const dragoman_translator* translator,
                                          const char* const* lines, size_t count,
                                          const char* const* options);
/* The number of the n best translations of a line. `line` is below `count`. */
size_t dragoman_candidates(const dragoman_translations* translations, size_t line);
/* One of them: 0 is the best, and each line has it. `candidate` is below dragoman_candidates(). */
const char* dragoman_text(const dragoman_translations* translations, size_t line, size_t candidate);
/* Its log-probability normalized by length, which orders the n best. */
double dragoman_score(const dragoman_translations* translations, size_t line, size_t candidate);
/* NULL is allowed. */
void dragoman_free(dragoman_translations* translations);

#ifdef __cplusplus
}
#endif

#endif
