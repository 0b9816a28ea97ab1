/** Mutations of the disk: acknowledged writes survive a power cut. */
const POWER = ['test/contract/power-cut.test.ts'];

export const DISK = [
  {
    name: 'a commit to SQLite does not wait for fsync',
    rule: 'a write is acknowledged only once it is on the disk',
    edits: [
      { find: 'await this.#file.datasync();', put: '' },
      { find: 'fdatasyncSync(file.fd);', put: '' },
    ],
    tests: POWER,
  },
  {
    name: 'a commit joins an fsync that is already running',
    rule: 'a commit waits for an fsync that began after it',
    edits: [
      {
        find: 'this.#next = undefined;\n    this.#running = this.#sync();\n    return this.#running;',
        put: 'this.#running = this.#sync().finally(() => {\n      this.#next = undefined;\n    });\n    return this.#running;',
      },
    ],
    tests: POWER,
  },
  {
    name: 'no command waits for the disk',
    rule: 'only unacknowledged writes may be lost in a power failure',
    edits: [{ find: 'if (thread.relaxed) await context.relax(trx);', put: 'await context.relax(trx);' }],
    tests: POWER,
  },
  {
    name: 'a write outside a transaction does not wait for the disk',
    rule: 'a staged item is on the disk before its sender gets the answer',
    edits: [{ find: 'await this.#awaitWritten(true);', put: 'await this.#awaitWritten(false);' }],
    tests: POWER,
  },
  {
    name: 'the start of a run-once tool does not wait for the disk',
    rule: 'a tool body runs only after its start is on the disk',
    edits: [{ find: 'if (idempotent) thread.relax();', put: 'thread.relax();' }],
    tests: POWER,
  },
];
