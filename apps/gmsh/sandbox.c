/* A filter of system calls for the thread that runs Gmsh: what a geometry can make Gmsh do ends in
 * one of these calls, whatever the check of its text has missed. Calls fail with EACCES; they do
 * not end the process. Linux manual, seccomp(2).
 *
 * Decision  docs/decisions/0045-gmsh-is-a-program-of-its-own.md */
#include "apps/gmsh/weft_gmsh.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Refused with any arguments. */
static const unsigned refused[] = {
    SYS_execve,    SYS_execveat,   SYS_truncate,   SYS_renameat,
    SYS_renameat2, SYS_linkat,     SYS_symlinkat,  SYS_unlinkat,
    SYS_mkdirat,   SYS_mknodat,    SYS_fchmodat,   SYS_fchownat,
    SYS_utimensat, SYS_setxattr,   SYS_lsetxattr,  SYS_mount,
    SYS_umount2,   SYS_chroot,     SYS_pivot_root, SYS_ptrace,
    SYS_socket,    SYS_socketpair, SYS_kill,       SYS_process_vm_writev,
    SYS_bpf,       SYS_keyctl,     SYS_unshare,    SYS_setns,
#ifdef SYS_fchmodat2
    SYS_fchmodat2,
#endif
#ifdef __x86_64__
    SYS_creat,     SYS_rename,     SYS_link,       SYS_symlink,
    SYS_unlink,    SYS_mkdir,      SYS_rmdir,      SYS_mknod,
    SYS_chmod,     SYS_chown,      SYS_lchown,     SYS_utime,
    SYS_utimes,    SYS_futimesat,  SYS_fork,       SYS_vfork,
#endif
};

/* Refused as if the kernel did not know them: their flags lie in memory that a filter cannot see,
 * and the C library then takes the older call. */
static const unsigned unknown[] = {SYS_io_uring_setup,
#ifdef SYS_openat2
                                   SYS_openat2,
#endif
#ifdef SYS_clone3
                                   SYS_clone3
#endif
};

enum {
    WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC,
    DENY = SECCOMP_RET_ERRNO | EACCES,
    MOST = 2 * (sizeof refused + sizeof unknown) / sizeof *refused + 32
};

typedef struct program {
    struct sock_filter list[MOST];
    unsigned short n;
} program;

static void add(program *p, unsigned short code, unsigned k, unsigned char if_true,
                unsigned char if_false) {
    p->list[p->n++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load_field(program *p, size_t offset) {
    add(p, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

/* Where the number is `call`, return `action`. */
static void refuse_call(program *p, unsigned call, unsigned action) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    add(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Where the number is `call`: deny it where an argument has one of these bits, or, with `wanted`,
 * has none of them; else allow it. */
static void check_flags(program *p, unsigned call, int argument, unsigned bits, bool wanted) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load_field(p, offsetof(struct seccomp_data, args) + 8 * (size_t)argument);
    add(p, BPF_JMP | BPF_JSET | BPF_K, bits, !wanted, wanted);
    add(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    add(p, BPF_RET | BPF_K, DENY, 0, 0);
}

bool sandbox_enter(void) {
    program p = {.n = 0};
    load_field(&p, offsetof(struct seccomp_data, arch));
    add(&p, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0);
    add(&p, BPF_RET | BPF_K, DENY, 0, 0);
    load_field(&p, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    /* the 32-bit pointer variant has numbers of its own */
    add(&p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    add(&p, BPF_RET | BPF_K, DENY, 0, 0);
#endif
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        refuse_call(&p, refused[i], DENY);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i)
        refuse_call(&p, unknown[i], SECCOMP_RET_ERRNO | ENOSYS);
#ifdef __x86_64__
    check_flags(&p, SYS_open, 1, WRITING, false);
#endif
    check_flags(&p, SYS_openat, 2, WRITING, false);
    check_flags(&p, SYS_clone, 0, CLONE_THREAD, true);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    const struct sock_fprog filter = {p.n, p.list};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

#else

bool sandbox_enter(void) {
    return false;
}

#endif
