/** Mutations of the workflow: the order of commands, and what a run carries. */
const REPLAY = ['test/replay/replay.test.ts'];

export const WORKFLOW = [
  {
    name: 'a pause before the first redispatch',
    rule: 'a call that was not begun is dispatched again at once',
    edits: [{ find: 'if (redispatches > 0)', put: 'if (redispatches >= 0)' }],
    tests: REPLAY,
    title: 'replays thread-not-begun',
    server: true,
  },
  {
    name: 'a timer before the regular commit of an early history',
    rule: 'recorded order: a local commit that failed goes on as a regular one at once',
    edits: [
      {
        find: ' goes on as a regular activity`, { error: String(error) });',
        put: ' goes on as a regular activity`, { error: String(error) });\n      await condition(() => false, 10);',
      },
      {
        find: '  ActivityCancellationType,\n  type ActivityOptions,\n  isCancellation,',
        put: '  ActivityCancellationType,\n  type ActivityOptions,\n  condition,\n  isCancellation,',
      },
    ],
    tests: REPLAY,
    title: 'replays thread-commit-refused',
    server: true,
  },
  {
    name: 'the store is asked first of a quick tool of an early history',
    rule: 'recorded order: a quick tool that was too slow is dispatched again at once',
    edits: [
      {
        find: '// It took longer than a second, or its worker was lost: the store decides whether it runs again.',
        put: 'await run.activities.recordToolOutcome(call, place);',
      },
    ],
    tests: REPLAY,
    title: 'replays thread-quick-and-slow',
    server: true,
  },
  {
    name: 'a stop is settled before a report is delivered',
    rule: 'recorded order: what has ended is reported before anything else is settled',
    edits: [
      {
        find: "if (run.family.reportDue) await report(run);\n    else if (run.requests.stop) await settle(run, { status: 'stopped', reason: run.requests.stop.reason });",
        put: "if (run.requests.stop) await settle(run, { status: 'stopped', reason: run.requests.stop.reason });\n    else if (run.family.reportDue) await report(run);",
      },
    ],
    tests: REPLAY,
    title: 'replays thread-stopped-with-a-report',
    server: true,
  },
  {
    name: 'a stop is forgotten when the thread continues as new',
    rule: 'a stop is settled before a run ends',
    edits: [{ find: '|| terminate || stop || canceled', put: '|| terminate || canceled' }],
    tests: ['test/faults/continue-held.test.ts'],
    server: true,
  },
  {
    name: 'a thread continues as new while a child boots',
    rule: 'a run does not end between the command and the word that the child has begun',
    edits: [
      {
        find: 'mustContinueAsNew(run) && !effectsBlockContinue(run) && !run.family.booting',
        put: 'mustContinueAsNew(run) && !effectsBlockContinue(run)',
      },
    ],
    tests: ['test/faults/continue-held.test.ts'],
    server: true,
  },
  {
    name: 'a message that comes twice is taken twice',
    rule: 'a signal with an id that was seen is the same message',
    edits: [{ find: 'if (this.#seen.has(id)) return { id, duplicate: true };', put: '' }],
    tests: ['test/core/queue.test.ts'],
  },
  {
    name: 'items leave the workflow before they are stored',
    rule: 'items leave the workflow only after the step that took them has stored them',
    edits: [
      {
        find: 'return this.#taken.map(({ item }) => item);\n  }\n\n  /** Records that the step has stored',
        put: 'const items = this.#taken.map(({ item }) => item);\n    this.#taken = [];\n    return items;\n  }\n\n  /** Records that the step has stored',
      },
    ],
    tests: ['test/core/queue.test.ts'],
  },
  {
    name: 'arrivals overtake what waits in the store',
    rule: 'nothing overtakes in the queue',
    edits: [
      {
        find: 'return this.#waiting > 0 || this.#bytes > LIMITS.stepInlineBytes;',
        put: 'return this.#bytes > LIMITS.stepInlineBytes;',
      },
    ],
    tests: ['test/core/queue.test.ts'],
  },
  {
    name: 'a carried state of any version is read',
    rule: 'an older worker does not run a newer thread',
    edits: [
      {
        find: 'if (version === 2) return checkFields(value as Snapshot);\n',
        put: 'if (version !== 1) return checkFields({ ...(value as Snapshot), version: 2 });\n',
      },
    ],
    tests: ['test/core/snapshot.test.ts'],
  },
  {
    name: 'no limit ends an execution',
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
    name: 'a stop that begins a run is forgotten',
    rule: 'a stop holds from the moment the server has it, also where it begins the run that hears it',
    edits: [{ find: 'this.#parked = stops || (', put: 'this.#parked = (stops && false) || (' }],
    tests: ['test/conformance/runtime-06-revival.test.ts'],
    title: 'stop',
    server: true,
  },
  {
    name: 'a thread at rest never continues as new',
    rule: 'whatever is sent, the thread continues as new',
    edits: [{ find: 'return run.effects.looked || patched(', put: 'return run.effects.looked && patched(' }],
    tests: ['test/hostile/unknown-names.test.ts'],
    title: 'history has grown',
    server: true,
  },
  {
    name: 'a flood is taken in by one script',
    rule: 'a script of the workflow’s context takes in a bounded part of what came',
    edits: [{ find: 'return left > 0 || !patched(', put: 'return true || !patched(' }],
    tests: ['test/hostile/flood.test.ts'],
    title: 'in their order',
    server: true,
  },
  {
    name: 'the last call of a step goes on whatever the thread has heard',
    rule: 'what is said before a call ends is in the next request',
    edits: [{ find: ' && (await isHistoryUnchanged(next))', put: '' }],
    tests: ['test/conformance/runtime-05-last-call.test.ts'],
    title: 'is in the next request, however shortly before',
    server: true,
  },
  {
    name: 'a step goes on into the next one where it ends the turn',
    rule: 'of quick calls, the activity judges as the workflow would whether their step goes on',
    edits: [{ find: 'if (!end.verdict.goesOn || end.verdict.turn) return', put: 'if (false) return' }],
    tests: ['test/conformance/runtime-05-steps-behind.test.ts'],
    title: 'ends with its step',
    server: true,
  },
  {
    name: 'a step behind another is asked for again under another ordinal',
    rule: 'readers take back what they have seen of an answer whose worker was lost',
    edits: [
      {
        find: '    ordinal,\n    afterStep: turn.afterStep,',
        put: '    ordinal: ordinal + 1000,\n    afterStep: turn.afterStep,',
      },
    ],
    tests: ['test/faults/step-behind-kill.test.ts'],
    title: 'readers take back',
    server: true,
  },
  {
    name: 'a step that a call has gone on into outlives the end of its execution',
    rule: 'a step ahead is forgotten where the loop does anything else first',
    edits: [{ find: '  run.ahead.forget();\n', put: '' }],
    tests: ['test/workflows/step-ahead.test.ts'],
    title: 'is the next step of the loop',
  },
];
