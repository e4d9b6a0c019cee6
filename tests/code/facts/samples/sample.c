/* A store of things. */
#include <stdio.h>
#include "store.h"

#define LIMIT 10
#define MAX(a, b) ((a) > (b) ? (a) : (b))

typedef unsigned int id_t;
typedef struct node node_t;
typedef int (*compare_fn)(const void *, const void *);

struct node {
    struct node *next;
    int value;
    char name[32];
};

typedef struct {
    int width, height;
} size_s;

union bits {
    int whole;
    float part;
};

enum kind {
    KIND_PLAIN,
    KIND_FANCY = 3,
};

static int counter = 0;
const char *names[] = {"a", "b"};
extern int outside;
int first, *second;

int declared(int value);
static void release(struct node *one);

int add(int a, int b)
{
    int sum = a + b;
    return sum;
}

struct node *push(struct node *head, int value, char *text)
{
    struct node *made = NULL;
    for (int i = 0; i < value; i++) {
        int inner = i;
        counter += inner;
    }
    made->next = head;
    goto done;
done:
    printf("pushed %d\n", value);
    return made;
}

static void release(struct node *one)
{
    (void)one;
}

int (*chosen(int which))(int, int)
{
    return add;
}

#ifdef DEBUG
static void debug(const char *text)
{
    puts(text);
}
#endif

int main(int argc, char **argv)
{
    id_t id = (id_t)argc;
    char letter = 'x';
    return MAX((int)id, letter);
}
