/** Mutations of tools: a tool's side effect happens at most once. */
const RETRIED = {
  find: "return mode === 'once' ? { retry: { maximumAttempts: 1 } } : {};",
  put: 'return mode ? {} : {};',
};
const BEGUN_TWICE = {
  find: "if (call.state === 'started' && !again && !idempotent)",
  put: "if (call.state === 'started' && !again && !idempotent && call.attempt === null)",
};
const ONCE = 'a tool that must not be retried starts at most once';

export const TOOLS = [
  {
    name: 'Temporal retries the activity of a run-once tool',
    rule: `${ONCE}: Temporal does not retry it`,
    edits: [RETRIED],
    tests: ['test/faults/once-guards.test.ts'],
    server: true,
  },
  {
    name: 'the store lets a run-once tool start a second time',
    rule: `${ONCE}: the store refuses a second start`,
    edits: [BEGUN_TWICE],
    tests: ['test/contract/sqlite-store.test.ts'],
    title: 'a tool',
  },
  {
    name: 'both guards of a run-once tool are removed',
    rule: ONCE,
    edits: [RETRIED, BEGUN_TWICE],
    tests: ['test/faults/once-guards.test.ts'],
    server: true,
  },
  {
    name: 'results of calls side by side are stored as their bodies end',
    rule: 'results of calls that run side by side are stored in the returned order',
    edits: [
      {
        find: 'const ended = (await hasOpenBefore(thread, call))',
        put: 'const ended = call.idx < 0 && (await hasOpenBefore(thread, call))',
      },
    ],
    tests: ['test/conformance/runtime-05-side-by-side.test.ts'],
    title: 'runs neighbouring calls at once',
    server: true,
  },
  {
    name: 'a call side by side runs again though its end is stored',
    rule: 'after a lost worker, each of the calls that ran side by side is settled for itself',
    edits: [
      {
        find: "if (call.state === 'finished') return toSettled(thread, call, stateOfFinished(call));",
        put: '',
      },
    ],
    tests: ['test/faults/side-by-side-kill.test.ts'],
    server: true,
  },
  {
    name: 'an attempt at one of the calls side by side replaces those at the others',
    rule: 'attempts at calls that run side by side do not replace each other',
    edits: [
      {
        find: 'await thread.admit({ runId, activity }, { together });',
        put: 'await thread.admit({ runId, activity }, { together: together && false });',
      },
    ],
    tests: ['test/faults/side-by-side-kill.test.ts'],
    server: true,
  },
  {
    name: 'a stop discards what has finished behind a call that has not',
    rule: 'a call side by side that has finished keeps its result, also if the execution is stopped',
    edits: [
      {
        find: "if (call.state === 'finished') await storeDeferred(thread, call);",
        put: "if (call.state === 'finished' && call.idx < 0) await storeDeferred(thread, call);",
      },
    ],
    tests: ['test/conformance/runtime-05-side-by-side.test.ts'],
    title: 'what has finished keeps its result',
    server: true,
  },
  {
    name: 'any number of calls runs side by side',
    rule: 'at most 8 calls of an answer run at once',
    edits: [{ find: 'Math.min(LIMITS.parallelCalls, to - from)', put: 'to - from' }],
    tests: ['test/core/call-group.test.ts'],
  },
  {
    name: 'author code may end the process',
    rule: 'author code cannot end the process',
    edits: [
      {
        find: 'if (run && affectsOwnProcess(call, given)) {',
        put: 'if (run && !/exit/i.test(call) && affectsOwnProcess(call, given)) {',
      },
    ],
    tests: ['test/author/author-guard.test.ts'],
    title: 'exits when the runtime ends it',
  },
  {
    name: 'work is given up without proof',
    rule: 'work is given up only after it has been proven three times to end its process',
    edits: [
      {
        find: "if (strike.strikes >= LIMITS.strikes) return 'give_up';",
        put: "if (strike.strikes >= 0) return 'give_up';",
      },
    ],
    tests: ['test/activities/unit.test.ts'],
  },
  {
    name: 'a remote agent is sent a message again that it may have received',
    rule: 'a message to a remote agent is sent once: after a crash it is looked up first',
    edits: [
      {
        find: 'isNew || agent.idempotent ? await sendMessage(',
        put: 'isNew || agent.name ? await sendMessage(',
      },
    ],
    tests: ['test/faults/a2a-peer.test.ts'],
    title: 'between a message and its task id',
    server: true,
  },
  {
    name: 'a remote agent is sent an answer again that it may have received',
    rule: 'an answer to a remote agent is sent once',
    edits: [
      {
        find: 'if (!agent.idempotent) await attempt.note({ answers: round + 1 });',
        put: 'if (!agent.name) await attempt.note({ answers: round + 1 });',
      },
    ],
    tests: ['test/faults/a2a-peer.test.ts'],
    title: 'after an answer that was lost',
    server: true,
  },
  {
    name: 'an AG-UI run repeats tool calls that its snapshot contains',
    rule: 'an AG-UI client receives each tool call and its arguments once',
    edits: [
      {
        find: 'if (toolCallId in run.calls) return [{ ...run, asked: left }, []];',
        put: "if (toolCallId in run.calls && name === '') return [{ ...run, asked: left }, []];",
      },
    ],
    tests: ['test/projections/ag-ui-projection.test.ts'],
    title: 'shown by a snapshot are not sent again',
  },
];
