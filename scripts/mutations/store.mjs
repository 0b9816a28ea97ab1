/** Mutations of the store: fences, duplicates, order, rest, and what is kept where. */
const CONTRACT = ['test/contract/sqlite-store.test.ts'];

export const STORE = [
  {
    name: 'a run that was replaced is admitted',
    rule: 'a run that was replaced is refused by the fence',
    edits: [{ find: 'if (known) throw new StaleRun(this.threadId, runId);', put: 'if (known) return;' }],
    tests: CONTRACT,
  },
  {
    name: 'an item that was drained is queued again',
    rule: 'no message is stored twice: (thread, item id) is unique',
    edits: [{ find: ".where('items.state', '=', 'staged'),", put: ".where('items.state', '!=', 'queued')," }],
    tests: CONTRACT,
  },
  {
    name: 'an item that waits takes a new place when it comes twice',
    rule: 'nothing overtakes in the queue',
    edits: [
      { find: ".where('items.state', '=', 'staged'),", put: ".where('items.state', '!=', 'drained')," },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a thread rests though rows are pending',
    rule: 'a thread does not come to rest while the store holds rows that nobody took',
    edits: [
      {
        find: 'const pending = !mayRest && (inLine || command.more === true);',
        put: 'const pending = !mayRest && command.more === true;',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a terminated thread opens again',
    rule: 'a terminated thread stays terminated, whoever starts it',
    edits: [
      {
        find: "if (thread.row.terminated_at !== null) return { kind: 'terminated' };\n    await thread.admit(runId);",
        put: 'await thread.admit(runId);',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a result that comes late is stored a second time',
    rule: 'a result that comes after the call was settled is an event, never a second result',
    edits: [
      {
        find: 'if (call.attempt !== command.attempt) {',
        put: "if (call.attempt !== command.attempt && call.state !== 'unknown') {",
      },
      {
        find: "if (call.state !== 'started')\n        return { kind: 'stored', queued:",
        put: "if (call.state !== 'started' && call.state !== 'unknown')\n        return { kind: 'stored', queued:",
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a stop leaves calls without a result',
    rule: 'however an execution ends, it leaves no call without a result',
    edits: [
      {
        find: 'await abortSteps(thread, status);\n    await settleOpenCalls(thread, status, rest.error);\n    if (canceled)',
        put: 'await abortSteps(thread, status);\n    if (canceled)',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a stopped step loses what it had streamed',
    rule: 'a stopped step keeps what it had streamed',
    edits: [{ find: 'if (text.length > 0) {', put: 'if (text.length < 0) {' }],
    tests: CONTRACT,
  },
  {
    name: 'a report is delivered twice',
    rule: 'a child is heard once',
    edits: [
      {
        find: "if (report.state !== 'due') return { by: deliveredBy(report), parentEnded, heldUp: true };",
        put: '',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'the terminated thread of a child reports to a dead parent',
    rule: 'what a parent that has ended would hear is dropped',
    edits: [{ find: "if (parent.row.terminated_at !== null) return 'dropped';", put: '' }],
    tests: CONTRACT,
  },
  {
    name: 'an effect begins 50 ms early',
    rule: 'an effect never fires before its time',
    edits: [
      {
        find: ".where('due_at', '<=', await context.clock(thread.trx))",
        put: ".where('due_at', '<=', (await context.clock(thread.trx)) + 50_000)",
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'an effect that a lost worker began goes again without end',
    rule: 'an effect that a lost worker had begun goes again, three times at most',
    edits: [
      { find: 'if (lost && lost.attempts >= mayLose) await giveUp(thread, lost);', put: '' },
      { find: 'lost && lost.attempts < mayLose ? lost : undefined', put: 'lost' },
    ],
    tests: CONTRACT,
  },
  {
    name: 'commands on one thread take no lock',
    rule: 'commands on one thread follow one another, in whatever process',
    edits: [
      {
        find: 'const select = context.rowLocks ? lockThread : selectThread;',
        put: 'const select = selectThread;',
      },
    ],
    tests: ['test/contract/postgres-store.test.ts'],
    title: 'two connections',
    server: true,
  },
  {
    name: 'an encrypted value is not bound to its place',
    rule: 'a value that was moved to another name or thread cannot be read there',
    edits: [
      {
        find: "JSON.stringify(['everthread.env.1', scope, owner, name, type])",
        put: "JSON.stringify(['everthread.env.1', typeof scope, typeof owner, typeof name, typeof type])",
      },
    ],
    tests: ['test/contract/encryption.test.ts'],
  },
  {
    name: 'nobody asks after the files of the store',
    rule: 'nobody is told of a write to files that are not the store any more',
    edits: [{ find: 'files.check();\n    }\n  }', put: '}\n  }' }],
    tests: ['test/contract/sqlite-lost.test.ts'],
  },
  {
    name: 'files of the store are made for everybody',
    rule: 'what users said to agents is for the owner of the store alone',
    edits: [
      { find: 'export const PRIVATE_FILE = 0o600;', put: 'export const PRIVATE_FILE = 0o644;' },
      { find: 'const OTHERS = 0o077;', put: 'const OTHERS = 0;' },
    ],
    tests: ['test/contract/private-files.test.ts'],
  },
];
