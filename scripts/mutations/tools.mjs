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
