/** Mutations of the store: fences, duplicates, order, rest, and what is kept where. */
const CONTRACT = ['test/contract/sqlite-store.test.ts'];

export const STORE = [
  {
    name: 'commands of a replaced run are accepted',
    rule: 'commands of a replaced run are refused by the fence',
    edits: [
      { find: 'if (isRetired) throw new StaleRun(this.threadId, runId);', put: 'if (isRetired) return;' },
    ],
    tests: CONTRACT,
  },
  {
    name: 'commands of a replaced attempt at an activity are accepted',
    rule: 'what an attempt begins or ends is refused once a newer attempt or activity has done so',
    edits: [
      {
        find: 'return number < newest || (number === newest && since < newestSince);',
        put: 'return number < 0;',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'an item that was drained can be queued again',
    rule: 'no message is stored twice: an item id is unique within its thread',
    edits: [{ find: ".where('items.state', '=', 'staged'),", put: ".where('items.state', '!=', 'queued')," }],
    tests: CONTRACT,
  },
  {
    name: 'a duplicate of a queued item moves it to the end of the queue',
    rule: 'the queue is first in, first out',
    edits: [
      { find: ".where('items.state', '=', 'staged'),", put: ".where('items.state', '!=', 'drained')," },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a thread becomes idle while items are pending',
    rule: 'a thread does not become idle while the store holds pending items',
    edits: [
      {
        find: 'const pending = !mayRest && (inLine || command.more === true);',
        put: 'const pending = !mayRest && command.more === true;',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a terminated thread can be opened again',
    rule: 'a terminated thread stays terminated, even if its workflow is started again',
    edits: [
      {
        find: "if (thread.row.terminated_at !== null) return { kind: 'terminated' };\n    await thread.admit(from);",
        put: 'await thread.admit(from);',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a late result is stored as a second result',
    rule: 'a result that arrives after its call was settled is logged as an event, never stored',
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
    name: 'a stop leaves tool calls without a result',
    rule: 'however an execution ends, every tool call has a result',
    edits: [
      {
        find: 'await abortSteps(thread, status);\n    await settleOpenCalls(thread, status, { cause: rest.error });\n    if (canceled)',
        put: 'await abortSteps(thread, status);\n    if (canceled)',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'the partial text of a stopped step is dropped',
    rule: 'the partial text of a stopped step is stored',
    edits: [{ find: 'if (text.length > 0) {', put: 'if (text.length < 0) {' }],
    tests: CONTRACT,
  },
  {
    name: 'a report is delivered twice',
    rule: 'a report of a child is delivered once',
    edits: [
      {
        find: "if (report.state !== 'due') return { by: deliveredBy(report), parentEnded, updatesAncestors: true };",
        put: '',
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'a terminated child reports to a parent that has ended',
    rule: 'reports to a parent that has ended are dropped',
    edits: [{ find: "if (parent.row.terminated_at !== null) return 'dropped';", put: '' }],
    tests: CONTRACT,
  },
  {
    name: 'an effect runs 50 ms early',
    rule: 'an effect never runs before its time',
    edits: [
      {
        find: ".where('due_at', '<=', await context.clock(thread.trx))",
        put: ".where('due_at', '<=', (await context.clock(thread.trx)) + 50_000)",
      },
    ],
    tests: CONTRACT,
  },
  {
    name: 'an effect is retried without limit after lost workers',
    rule: 'an effect whose worker was lost runs again, at most three times',
    edits: [
      { find: 'if (lost && lost.attempts >= mayLose) await giveUp(thread, lost);', put: '' },
      { find: 'lost && lost.attempts < mayLose ? lost : undefined', put: 'lost' },
    ],
    tests: CONTRACT,
  },
  {
    name: 'commands on a thread take no lock',
    rule: 'commands on a thread run one at a time, across processes',
    edits: [
      {
        find: 'return rowLocks ? found.forUpdate() : found;',
        put: 'return rowLocks ? found : found;',
      },
    ],
    tests: ['test/contract/postgres-store.test.ts'],
    title: 'two connections',
    server: true,
  },
  {
    name: 'an encrypted value is not bound to its name and thread',
    rule: 'an encrypted value cannot be decrypted under another name or in another thread',
    edits: [
      {
        find: "JSON.stringify(['everthread.env.1', scope, owner, name, type])",
        put: "JSON.stringify(['everthread.env.1', typeof scope, typeof owner, typeof name, typeof type])",
      },
    ],
    tests: ['test/contract/encryption.test.ts'],
  },
  {
    name: 'the files of the store are not checked',
    rule: 'no write is acknowledged after the files of the store were replaced or deleted',
    edits: [{ find: 'files.check();\n    }\n  }', put: '}\n  }' }],
    tests: ['test/contract/sqlite-lost.test.ts'],
  },
  {
    name: 'the files of the store are readable by all users',
    rule: 'only the owner can read the files of the store',
    edits: [
      { find: 'export const PRIVATE_FILE = 0o600;', put: 'export const PRIVATE_FILE = 0o644;' },
      { find: 'const OTHERS = 0o077;', put: 'const OTHERS = 0;' },
    ],
    tests: ['test/contract/private-files.test.ts'],
  },
  {
    name: 'a late commit is not in the feed of changes',
    rule: 'the feed of changes has every change, however late its transaction commits',
    edits: [
      {
        find: 'const oldestOf = (mark: string) => partsOf(mark).oldest;',
        put: 'const oldestOf = (mark: string) => partsOf(mark).next;',
      },
    ],
    tests: ['test/contract/late-commit.test.ts'],
    server: true,
  },
  {
    name: 'lists keep the words of a message that was changed or deleted',
    rule: 'a message that is changed or deleted leaves no copy of its text',
    edits: [
      {
        find: 'await rereadWords(thread);\n    thread.emit(',
        put: 'thread.emit(',
      },
    ],
    tests: CONTRACT,
    title: 'the words of a thread',
  },
];
