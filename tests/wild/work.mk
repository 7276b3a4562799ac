N = 1 2 3 4 5 6
all: $(N:%=%.o) ; @cksum $(N:%=%.o) | cut -d' ' -f1
%.o: %.c ; gcc -O1 -c $< -o $@
%.c: ; printf '#include <stdio.h>\n#include <stdlib.h>\nint f$*(void) { return puts("$*"); }\n' > $@
