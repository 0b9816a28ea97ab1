/** Mutations of the workflow: the order of commands, and what a run carries. */
const REPLAY = ['test/replay/replay.test.ts'];

export const WORKFLOW = [
  {
    name: 'the first redispatch is delayed',
    rule: 'a call that did not start is dispatched again at once',
    edits: [{ find: 'if (redispatches > 0)', put: 'if (redispatches >= 0)' }],
    tests: REPLAY,
    title: 'replays thread-not-begun',
    server: true,
  },
  {
    name: 'a stop is settled before a due report is delivered',
    rule: 'command order: a due report is delivered before anything is settled',
    edits: [
      {
        find: "if (run.family.reportDue) await report(run);\n    else if (run.requests.stop) await settle(run, { status: 'stopped', ...run.requests.stop });",
        put: "if (run.requests.stop) await settle(run, { status: 'stopped', ...run.requests.stop });\n    else if (run.family.reportDue) await report(run);",
      },
    ],
    tests: REPLAY,
    title: 'replays thread-stopped-with-a-report',
    server: true,
  },
  {
    name: 'a stop is lost on continue-as-new',
    rule: 'a stop is settled before a run ends',
    edits: [{ find: '|| terminate || stop || canceled', put: '|| terminate || canceled' }],
    tests: ['test/faults/continue-held.test.ts'],
    server: true,
  },
  {
    name: 'a thread continues as new while a child starts',
    rule: 'a run does not end between the command that starts a child and its confirmation',
    edits: [
      {
        find: 'mustContinueAsNew(run.settings) && !effectsBlockContinue(run) && !run.family.booting',
        put: 'mustContinueAsNew(run.settings) && !effectsBlockContinue(run)',
      },
    ],
    tests: ['test/faults/continue-held.test.ts'],
    server: true,
  },
  {
    name: 'a duplicate message is queued twice',
    rule: 'a signal whose id was seen before is a duplicate',
    edits: [{ find: 'if (this.#seen.has(id)) return { id, duplicate: true };', put: '' }],
    tests: ['test/core/queue.test.ts'],
  },
  {
    name: 'items leave the workflow before they are stored',
    rule: 'items leave the workflow only after the step that drained them has stored them',
    edits: [
      {
        find: 'return this.#taken.map(({ item }) => item);\n  }\n\n  /** Records that the step has stored',
        put: 'const items = this.#taken.map(({ item }) => item);\n    this.#taken = [];\n    return items;\n  }\n\n  /** Records that the step has stored',
      },
    ],
    tests: ['test/core/queue.test.ts'],
  },
  {
    name: 'new items overtake items that wait in the store',
    rule: 'the queue is first in, first out',
    edits: [
      {
        find: 'return this.#waiting > 0 || this.#bytes > LIMITS.stepInlineBytes;',
        put: 'return this.#bytes > LIMITS.stepInlineBytes;',
      },
    ],
    tests: ['test/core/queue.test.ts'],
  },
  {
    name: 'carried state of any version is accepted',
    rule: 'an older worker does not run a thread of a newer one',
    edits: [
      {
        find: 'if (version === 1) return checkFields(value as Snapshot);\n',
        put: 'if (version !== undefined) return checkFields({ ...(value as Snapshot), version: 1 });\n',
      },
    ],
    tests: ['test/core/snapshot.test.ts'],
  },
  {
    name: 'the hard cap of steps is not applied',
    rule: 'an execution has a hard cap of steps',
    edits: [
      {
        find: "return sideSteps.a + sideSteps.b >= cap ? 'max_total_steps' : undefined;",
        put: "return sideSteps.a < 0 ? 'max_total_steps' : undefined;",
      },
    ],
    tests: ['test/core/stop.test.ts'],
  },
  {
    name: 'a stop that starts a run is lost',
    rule: 'a stop holds once the server has accepted it, even if it starts the run that handles it',
    edits: [{ find: 'this.#parked = stops || (', put: 'this.#parked = (stops && false) || (' }],
    tests: ['test/conformance/runtime-06-revival.test.ts'],
    title: 'stop',
    server: true,
  },
  {
    name: 'an idle thread never continues as new',
    rule: 'whatever signals it receives, an idle thread continues as new',
    edits: [{ find: 'run.wanted || mayContinue(run))', put: 'run.wanted)' }],
    tests: ['test/hostile/unknown-names.test.ts'],
    title: 'whose history grows by signals',
    server: true,
  },
  {
    name: 'a flood of signals is processed in one script',
    rule: 'the workflow processes a limited number of signals per script',
    edits: [{ find: 'if (this.empty && budget.left > 0) {', put: 'if (this.empty) {' }],
    tests: ['test/hostile/flood.test.ts'],
    title: 'are written to the store in limited batches',
    server: true,
  },
  {
    name: 'an activity continues with the next step although the thread has new input',
    rule: 'input that arrives before a call ends is in the next model request',
    edits: [{ find: ' && history.isQuiet()', put: '' }],
    tests: ['test/conformance/runtime-05-step-loop.test.ts'],
    title: 'in the next request, however late',
    server: true,
  },
  {
    name: 'an activity continues with the next step although another side acts',
    rule: 'the activity decides as the workflow would whether to continue',
    edits: [{ find: 'if (changes || callCount === 0)', put: 'if (changes && callCount > 99)' }],
    tests: ['test/conformance/runtime-05-step-loop.test.ts'],
    title: 'ends with its turn',
    server: true,
  },
  {
    name: 'an attempt does not look how many steps an earlier one has begun',
    rule: 'readers withdraw the partial text of an answer whose worker was lost',
    edits: [{ find: 'isRepeated() ? await countBegun(dependencies, loop) : 0', put: '0' }],
    tests: ['test/faults/step-loop-kill.test.ts'],
    title: 'readers discard the part',
    server: true,
  },
  {
    name: 'the workflow stores the end of a turn under another ordinal than the activity',
    rule: 'an end of a turn that may be stored is stored again under its own key',
    edits: [{ find: 'commitEndOfTurn(run, rest, end?.ordinal)', put: 'commitEndOfTurn(run, rest)' }],
    tests: ['test/conformance/runtime-05-step-loop.test.ts'],
    title: 'under the same ordinal',
    server: true,
  },
  {
    name: 'the count at the end of a turn forgets what was spilled meanwhile',
    rule: 'messages are read in the order in which they were sent',
    edits: [{ find: '    this.#announced += batch.length;\n', put: '' }],
    tests: ['test/workflows/inbox.test.ts'],
    title: 'were spilled',
  },
];
