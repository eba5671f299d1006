/** Smaller scripts that still fail. */
#ifndef SHRINK_H
#define SHRINK_H

#include "random_script.h"

typedef bool shrink_fails(void *user, const random_script *script);
/** Take away statements and parts of expressions as long as the rest fails too. Makes script
 * smaller in place. */
void shrink(random_script *script, shrink_fails *fails, void *user);

#endif
