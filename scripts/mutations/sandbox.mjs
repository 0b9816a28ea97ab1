/** Mutations of what separates a program from the worker. */
export const SANDBOX = [
  {
    name: 'a stale message of a child is taken',
    rule: 'what a child says of a run that has ended is dropped',
    edits: [
      {
        find: "throwViolation('a message of a run that is not its own');\n    return 'drop';",
        put: "throwViolation('a message of a run that is not its own');\n    return 'pass';",
      },
    ],
    tests: ['test/sandbox/conduct.test.ts'],
  },
  {
    name: 'children have the environment of the worker',
    rule: 'a child is given nothing of its host’s environment',
    edits: [
      {
        find: "env: { TZ: 'UTC' },\n    stdio: ['ignore', 'ignore', 'pipe', 'pipe'",
        put: "env: process.env,\n    stdio: ['ignore', 'ignore', 'pipe', 'pipe'",
      },
      { find: "[env, '-i', 'TZ=UTC']", put: "[env, 'TZ=UTC']" },
      { find: "...['--clearenv', '--setenv', 'TZ', 'UTC'],", put: "...['--setenv', 'TZ', 'UTC']," },
    ],
    tests: ['test/sandbox/after-escape.test.ts'],
    title: 'what is tried runs|finds variables in its environment',
  },
  {
    name: 'no memory limit of the kernel',
    rule: 'the kernel bounds the data of a child, whatever watches it',
    edits: [{ find: 'const DATA_KIB = Math.floor(', put: 'const DATA_KIB = 2 ** 40 + Math.floor(' }],
    tests: ['test/sandbox/child-limits.test.ts'],
  },
  {
    name: 'no permission model',
    rule: 'where no wall of the kernel stands, Node’s permission model holds',
    edits: [
      {
        find: 'const options = bare ? [] : nodeOptions(main, threads);',
        put: 'const options: string[] = bare || threads ? [] : [];',
      },
    ],
    tests: ['test/sandbox/after-escape.test.ts'],
    title: 'what is tried runs|reads /etc/passwd',
  },
  {
    name: 'a child sees the network',
    rule: 'behind a wall of the kernel nobody who has left the isolate reaches the network',
    edits: [
      { find: "'--unshare-net', ", put: '' },
      { find: "...(filter ? ['--seccomp', String(FILTER_FD)] : []),", put: '' },
      { find: '...(filter ? { filter } : {}),', put: '' },
    ],
    tests: ['test/sandbox/after-escape.test.ts'],
    title: 'what is tried runs|connects|sends|listens|binds',
  },
  {
    name: 'a child is handed from tenant to tenant',
    rule: 'a child serves one tenant in its life',
    edits: [
      {
        find: 'const own = this.serving.filter((each) => each.tenant === tenant);',
        put: 'const own = this.serving.filter((each) => each.tenant !== undefined);',
      },
    ],
    tests: ['test/sandbox/pool-tenants.test.ts'],
  },
  {
    name: 'a tenant without a place waits for ever',
    rule: 'endless programs of one tenant keep no other from beginning',
    edits: [{ find: 'inside < size + Math.min(size, long)', put: 'inside < size' }],
    tests: ['test/sandbox/pool-fairness.test.ts'],
    title: 'lets another tenant begin',
  },
  {
    name: 'a frame may be of any length',
    rule: 'frames have a hard maximum',
    edits: [{ find: 'if (length < FIXED_BYTES || length > longest)', put: 'if (length < FIXED_BYTES)' }],
    tests: ['test/sandbox/frame.test.ts'],
  },
  {
    name: 'a child may call under one id twice',
    rule: 'a child that speaks out of turn is killed',
    edits: [
      { find: "if (crossing.id <= this.#lastCall) throwViolation('two calls under one id');", put: '' },
    ],
    tests: ['test/sandbox/malicious-child.test.ts'],
    title: 'two calls under one id',
  },
];
