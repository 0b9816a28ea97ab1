/** Mutations of the disk: acknowledged writes survive a power cut. */
const POWER = ['test/contract/power-cut.test.ts'];

export const DISK = [
  {
    name: 'a commit to SQLite does not wait for a sync',
    rule: 'nobody is told of a write before the disk has it',
    edits: [
      { find: 'await this.#file.datasync();', put: '' },
      { find: 'fdatasyncSync(file.fd);', put: '' },
    ],
    tests: POWER,
  },
  {
    name: 'a commit shares a sync that already runs',
    rule: 'a wait ends with a sync that began after it',
    edits: [
      {
        find: 'this.#next = undefined;\n    this.#running = this.#sync();\n    return this.#running;',
        put: 'this.#running = this.#sync().finally(() => {\n      this.#next = undefined;\n    });\n    return this.#running;',
      },
    ],
    tests: POWER,
  },
  {
    name: 'every command is relaxed',
    rule: 'only what nobody is told of may be lost with the power',
    edits: [{ find: 'if (thread.relaxed) await context.relax(trx);', put: 'await context.relax(trx);' }],
    tests: POWER,
  },
  {
    name: 'a write outside of a transaction does not wait',
    rule: 'a staged item is on the disk before its sender hears of it',
    edits: [{ find: 'await this.#awaitWritten(true);', put: 'await this.#awaitWritten(false);' }],
    tests: POWER,
  },
  {
    name: 'the begin of a once-tool is relaxed',
    rule: 'a body begins only after the disk knows that it has begun',
    edits: [{ find: 'if (idempotent) thread.relax();', put: 'thread.relax();' }],
    tests: POWER,
  },
];
