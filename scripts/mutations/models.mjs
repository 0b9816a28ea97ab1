/** Mutations of what surrounds a model call, and any activity. */
export const MODELS = [
  {
    name: 'the abort signal is not handed to the provider',
    rule: 'a stop reaches the provider, and closes its socket at once',
    edits: [
      {
        find: 'const abort = AbortSignal.any([signal, halt.signal]);',
        put: 'const abort = undefined;',
      },
    ],
    tests: ['test/models/call-model.test.ts'],
    title: 'an abort within a stream',
  },
  {
    name: 'SIGTERM does not hand a model call over',
    rule: 'a worker that is told to go gives its model calls to another at once',
    edits: [
      {
        find: 'const signal = abortSignal(handover);\n  const chunks',
        put: 'const signal = abortSignal();\n  const chunks',
      },
    ],
    tests: ['test/faults/handover.test.ts'],
    title: 'a streaming model call',
    server: true,
  },
  {
    name: 'activities send no heartbeats',
    rule: 'a model that thinks silently and a tool that computes are alive',
    edits: [{ find: '() => context.heartbeat(progressOf(context))', put: '() => undefined' }],
    tests: ['test/activities/guard.test.ts'],
  },
  {
    name: 'answers of any size cross Temporal',
    rule: 'history stays small: an answer above the bound fails loudly',
    edits: [
      {
        find: 'if (bytes <= LIMITS.activityResultBytes) return result;',
        put: 'if (bytes >= 0) return result;',
      },
    ],
    tests: ['test/activities/guard.test.ts'],
  },
  {
    name: 'a store that is away counts as a fault',
    rule: 'what ails the store fails no thread',
    edits: [{ find: 'Object.hasOwn(STORE_PAUSES, error.code)', put: "Object.hasOwn(STORE_PAUSES, '')" }],
    tests: ['test/activities/guard.test.ts'],
  },
  {
    name: 'an answer of any length is read',
    rule: 'a model’s answer is bounded before it is kept',
    edits: [
      {
        find: 'total += amount;\n    if (total > limit)',
        put: 'total += amount;\n    if (total > Number.MAX_VALUE)',
      },
    ],
    tests: ['test/models/answer-caps.test.ts'],
    title: 'not streamed',
  },
  {
    name: 'a model that stalled is asked again',
    rule: 'after a stall the next model is asked, and not the same again',
    edits: [
      {
        find: 'delay !== undefined && !failed.stalled && isRetryable',
        put: 'delay !== undefined && isRetryable',
      },
    ],
    tests: ['test/models/call-model.test.ts'],
    title: 'stall',
  },
  {
    name: 'keys of the environment are left in the failures of providers',
    rule: 'an error that echoes a key is stored without it',
    edits: [
      {
        find: 'const secrets = [...listEnvironmentKeys(process.env), ...(settings?.secrets ?? [])];',
        put: 'const secrets: string[] = [...(settings?.secrets ?? [])];',
      },
    ],
    tests: ['test/models/redact.test.ts', 'test/models/call-model.test.ts'],
  },
  {
    name: 'an unfinished step is not taken over',
    rule: 'an answer is made once: what the store has is taken over',
    edits: [{ find: '(turnOpen || !unseen.settled)', put: 'turnOpen' }],
    tests: ['test/core/plan-step.test.ts'],
  },
  {
    name: 'a settled step is passed over that its run was killed before judging',
    rule: 'the stop rules judge every step, whichever run made it',
    edits: [{ find: '(turnOpen || !unseen.settled)', put: '!unseen.settled' }],
    tests: ['test/core/plan-step.test.ts'],
  },
  {
    name: 'calls whose result is lost are sent without one',
    rule: 'whatever hooks return, calls and results are paired before a model is asked',
    edits: [
      {
        find: '...slots.map(toResult),',
        put: '...slots.filter(({ result }) => result).map(toResult),',
      },
    ],
    tests: ['test/core/sanitise.test.ts'],
  },
  {
    name: 'a call whose arguments were cut off is run without any',
    rule: 'arguments that were cut off are never taken for none',
    edits: [{ find: "finishReason === 'length' && inline.length === 0 ?", put: 'inline === undefined ?' }],
    tests: ['test/core/answer/clean-calls.test.ts'],
  },
  {
    name: 'of arguments that were cut off the part that is whole is run',
    rule: 'arguments are repaired by stated rules, and nothing is made up',
    edits: [{ find: '|| /[{["]/.test(text.slice(end))', put: '' }],
    tests: ['test/core/answer/repair-arguments.test.ts'],
  },
];
