/** Mutations of tools: a tool's side effect happens at most once. */
const RETRIED = {
  find: "retry: call.mode === 'once' ? { maximumAttempts: 1 } : LOST_WORKER_RETRY,",
  put: 'retry: LOST_WORKER_RETRY,',
};
const BEGUN_TWICE = {
  find: "if (call.state === 'started' && !again && !idempotent) {",
  put: "if (call.state === 'started' && !again && !idempotent && call.attempt === null) {",
};
const ONCE = 'a tool that may not be tried again begins once';

export const TOOLS = [
  {
    name: "Temporal tries a once-tool's activity again",
    rule: `${ONCE}: Temporal does not try it`,
    edits: [RETRIED],
    tests: ['test/faults/once-guards.test.ts'],
    server: true,
  },
  {
    name: 'the store lets a once-tool begin a second time',
    rule: `${ONCE}: the store does not let it`,
    edits: [BEGUN_TWICE],
    tests: ['test/contract/sqlite-store.test.ts'],
    title: 'a tool',
  },
  {
    name: 'both guards of a once-tool are gone',
    rule: ONCE,
    edits: [RETRIED, BEGUN_TWICE],
    tests: ['test/faults/once-guards.test.ts'],
    server: true,
  },
  {
    name: 'code of an author may end the process',
    rule: 'no exit of the process is granted to code of an author',
    edits: [
      {
        find: 'if (run && affectsOwnProcess(call, given)) {',
        put: 'if (run && !/exit/i.test(call) && affectsOwnProcess(call, given)) {',
      },
    ],
    tests: ['test/state/author-guard.test.ts'],
    title: 'ends when we end it',
  },
  {
    name: 'work is given up on suspicion',
    rule: 'nothing is given up but by three proofs',
    edits: [
      {
        find: "if (strike.strikes >= LIMITS.strikes) return 'give_up';",
        put: "if (strike.strikes >= 0) return 'give_up';",
      },
    ],
    tests: ['test/activities/unit.test.ts'],
  },
  {
    name: 'an agent elsewhere is sent a message again that it may have',
    rule: 'an agent elsewhere that takes no message twice is sent each once: what it may have is looked for',
    edits: [
      {
        find: 'isNew || agent.idempotent ? await sendMessage(',
        put: 'isNew || agent.name ? await sendMessage(',
      },
    ],
    tests: ['test/faults/a2a-peer.test.ts'],
    title: 'between its message',
    server: true,
  },
  {
    name: 'an agent elsewhere is sent an answer again that it may have heard',
    rule: 'an agent elsewhere that takes no message twice is sent each answer once',
    edits: [
      {
        find: 'if (!agent.idempotent) await attempt.note({ answers: round + 1 });',
        put: 'if (!agent.name) await attempt.note({ answers: round + 1 });',
      },
    ],
    tests: ['test/faults/a2a-peer.test.ts'],
    title: 'behind an answer that was lost',
    server: true,
  },
  {
    name: 'a run of AG-UI tells calls again that its snapshot has shown',
    rule: 'a client of AG-UI has each call with its arguments as they are',
    edits: [
      {
        find: 'if (toolCallId in run.calls) return [{ ...run, asked: left }, []];',
        put: "if (toolCallId in run.calls && name === '') return [{ ...run, asked: left }, []];",
      },
    ],
    tests: ['test/projections/ag-ui-projection.test.ts'],
    title: 'shown are not told again',
  },
];
