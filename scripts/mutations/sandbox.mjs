/** Mutations of what separates a program from the worker. */
export const SANDBOX = [
  {
    name: 'a message about an ended run is accepted from a sandbox process',
    rule: 'messages of a sandbox process about an ended run are ignored',
    edits: [
      {
        find: "throwViolation('a message of a run that is not its own');\n    return 'drop';",
        put: "throwViolation('a message of a run that is not its own');\n    return 'pass';",
      },
    ],
    tests: ['test/sandbox/conduct.test.ts'],
  },
  {
    name: 'sandbox processes inherit the environment of the worker',
    rule: 'a sandbox process gets no environment variables of the worker',
    edits: [
      {
        find: "env: { TZ: 'UTC' },\n    stdio: ['ignore', 'ignore', 'pipe', 'pipe'",
        put: "env: process.env,\n    stdio: ['ignore', 'ignore', 'pipe', 'pipe'",
      },
      { find: "[env, '-i', 'TZ=UTC']", put: "[env, 'TZ=UTC']" },
      { find: "...['--clearenv', '--setenv', 'TZ', 'UTC'],", put: "...['--setenv', 'TZ', 'UTC']," },
    ],
    tests: ['test/sandbox/after-escape.test.ts'],
    title: 'the attempts run|finds variables in its environment',
  },
  {
    name: 'sandbox processes have no kernel memory limit',
    rule: 'the kernel limits the memory of a sandbox process',
    edits: [{ find: 'const DATA_KIB = Math.floor(', put: 'const DATA_KIB = 2 ** 40 + Math.floor(' }],
    tests: ['test/sandbox/child-limits.test.ts'],
  },
  {
    name: 'sandbox processes run without Node’s permission model',
    rule: 'without kernel isolation, Node’s permission model restricts sandbox processes',
    edits: [
      {
        find: 'const options = bare ? [] : nodeOptions(main, threads);',
        put: 'const options: string[] = bare || threads ? [] : [];',
      },
    ],
    tests: ['test/sandbox/after-escape.test.ts'],
    title: 'the attempts run|reads /etc/passwd',
  },
  {
    name: 'sandbox processes share the network of the host',
    rule: 'with kernel isolation, code that escapes the isolate cannot reach the network',
    edits: [
      { find: "'--unshare-net', ", put: '' },
      { find: "...(filter ? ['--seccomp', String(FILTER_FD)] : []),", put: '' },
      { find: '...(filter ? { filter } : {}),', put: '' },
    ],
    tests: ['test/sandbox/after-escape.test.ts'],
    title: 'the attempts run|connects|sends|listens|binds',
  },
  {
    name: 'a sandbox process is reused for another tenant',
    rule: 'a sandbox process serves only one tenant',
    edits: [
      {
        find: 'const own = this.serving.filter((each) => each.tenant === tenant);',
        put: 'const own = this.serving.filter((each) => each.tenant !== undefined);',
      },
    ],
    tests: ['test/sandbox/pool-tenants.test.ts'],
  },
  {
    name: 'the programs of a tenant wait while endless programs of another hold every process',
    rule: 'endless programs of one tenant do not block the programs of others',
    edits: [{ find: 'inside < size + Math.min(size, long)', put: 'inside < size' }],
    tests: ['test/sandbox/pool-fairness.test.ts'],
    title: 'lets another tenant start',
  },
  {
    name: 'a frame of any length is read',
    rule: 'frames have a maximum length',
    edits: [{ find: 'if (length < FIXED_BYTES || length > longest)', put: 'if (length < FIXED_BYTES)' }],
    tests: ['test/sandbox/frame.test.ts'],
  },
  {
    name: 'a sandbox process may use a call id twice',
    rule: 'a sandbox process that violates the protocol is killed',
    edits: [
      { find: "if (crossing.id <= this.#lastCall) throwViolation('two calls under one id');", put: '' },
    ],
    tests: ['test/sandbox/malicious-child.test.ts'],
    title: 'two calls under one id',
  },
];
