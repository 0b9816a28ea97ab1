/** Mutations of what surrounds a model call, and any activity. */
export const MODELS = [
  {
    name: 'the abort signal is not passed to the provider',
    rule: 'a stop aborts the provider request and closes its socket at once',
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
    name: 'SIGTERM does not hand over running model calls',
    rule: 'a worker that shuts down hands its model calls to another worker at once',
    edits: [
      {
        find: 'const signal = abortSignal(handover);\n  const record',
        put: 'const signal = abortSignal();\n  const record',
      },
    ],
    tests: ['test/faults/handover.test.ts'],
    title: 'a streaming model call',
    server: true,
  },
  {
    name: 'activities send no heartbeats',
    rule: 'activities send heartbeats while a model is silent or a tool computes',
    edits: [{ find: '() => context.heartbeat(progressTexts.get(context))', put: '() => undefined' }],
    tests: ['test/activities/guard.test.ts'],
  },
  {
    name: 'activity results of any size are returned to Temporal',
    rule: 'an activity result above the size limit fails with an error, so that histories stay small',
    edits: [
      {
        find: 'if (bytes <= LIMITS.activityResultBytes) return result;',
        put: 'if (bytes >= 0) return result;',
      },
    ],
    tests: ['test/activities/guard.test.ts'],
  },
  {
    name: 'an unavailable store counts as an attempt that failed',
    rule: 'an unavailable store never fails a thread',
    edits: [{ find: 'Object.hasOwn(STORE_PAUSES, error.code)', put: "Object.hasOwn(STORE_PAUSES, '')" }],
    tests: ['test/activities/guard.test.ts'],
  },
  {
    name: 'the size of a model answer is not limited',
    rule: 'the size of a model answer is limited before it is stored',
    edits: [
      {
        find: 'total += amount;\n    if (total > limit)',
        put: 'total += amount;\n    if (total > Number.MAX_VALUE)',
      },
    ],
    tests: ['test/models/answer-caps.test.ts'],
    title: 'without streaming',
  },
  {
    name: 'the same model is called again after a stall',
    rule: 'after a stall the next fallback model is called, not the same one again',
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
    name: 'API keys of the environment are not redacted from provider errors',
    rule: 'a provider error that contains an API key is stored without the key',
    edits: [
      {
        find: 'const secrets = [...listEnvironmentKeys(process.env), ...(settings?.secrets ?? [])];',
        put: 'const secrets: string[] = [...(settings?.secrets ?? [])];',
      },
    ],
    tests: ['test/models/redact.test.ts', 'test/models/call-model.test.ts'],
  },
  {
    name: 'an unfinished step is not resumed',
    rule: 'a stored model answer is reused instead of requested again',
    edits: [{ find: '(turnOpen || !unseen.settled)', put: 'turnOpen' }],
    tests: ['test/core/plan-step.test.ts'],
  },
  {
    name: 'a settled step is skipped whose stop conditions were not evaluated yet',
    rule: 'stop conditions are evaluated for every step, even if the run was replaced after it',
    edits: [{ find: '(turnOpen || !unseen.settled)', put: '!unseen.settled' }],
    tests: ['test/core/plan-step.test.ts'],
  },
  {
    name: 'tool calls without a result are sent to the model as they are',
    rule: 'every tool call in a model request has a result, whatever hooks return',
    edits: [
      {
        find: '...slots.map(toResult),',
        put: '...slots.filter(({ result }) => result).map(toResult),',
      },
    ],
    tests: ['test/core/sanitise.test.ts'],
  },
  {
    name: 'a call whose arguments were truncated runs with empty arguments',
    rule: 'truncated arguments are never treated as empty arguments',
    edits: [{ find: 'isCut && inline.length === 0 ?', put: 'inline === undefined ?' }],
    tests: ['test/core/answer/clean-calls.test.ts'],
  },
  {
    name: 'a call whose arguments were truncated runs with the part that parses',
    rule: 'arguments are repaired by documented rules only; nothing is invented',
    edits: [{ find: '|| /[{["]/.test(text.slice(end))', put: '' }],
    tests: ['test/core/answer/repair-arguments.test.ts'],
  },
];
