/* debug_units.c: code with enough debug information to be worth compressing; built once for each
 * UNIT, the number of a unit, whose functions all have that in their names. */
#define JOIN(a, b, c)   a##b##c
#define NAME(unit, end) JOIN(unit_, unit, end)

#define MANY(X)                                                                                    \
    X(_a) X(_b) X(_c) X(_d) X(_e) X(_f) X(_g) X(_h) X(_i) X(_j) X(_k) X(_l) X(_m) X(_n) X(_o) X(_p)

#define FUNCTION(end)                                                                              \
    int NAME(UNIT, end)(int first, const char *second, double third);                              \
    __attribute__((visibility("default"))) int NAME(UNIT, end)(int first, const char *second,      \
                                                               double third) {                     \
        int local = first + second[0];                                                             \
        for (int i = 0; i < first; i++)                                                            \
            local += second[i] * (int)third;                                                       \
        return local;                                                                              \
    }

MANY(FUNCTION)
