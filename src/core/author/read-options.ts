/** Checks the options of paged reads such as getMessages: a database would misinterpret a wrong shape. */
import { RuntimeError } from '../value/error.ts';
import { WAIT_STATES, type WaitState } from '../wait/wait.ts';

type Check = readonly [what: string, holds: (value: unknown) => boolean];

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const COUNT: Check = ['a whole number, 0 or more', isCount];

const PAGE: Readonly<Record<string, Check>> = {
  limit: ['a whole number, 1 or more', (value) => isCount(value) && value !== 0],
  offset: COUNT,
  order: ['"asc" or "desc"', (value) => value === 'asc' || value === 'desc'],
};

const MESSAGES: Readonly<Record<string, Check>> = {
  ...PAGE,
  includeSilent: ['true or false', (value) => typeof value === 'boolean'],
  maxDepth: COUNT,
  superseded: ['true or false', (value) => typeof value === 'boolean'],
};

const isText = (value: unknown) => typeof value === 'string';
const isSignal = (value: unknown) => typeof value === 'object' && value !== null && 'aborted' in value;

const isThreadPlace = (value: unknown) => {
  const { id, createdAt, updatedAt } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isText(id) && isCount(createdAt) && isCount(updatedAt);
};

/**
 * `updated`: last changed first. `created`: last created first. `cost`, `tokens`: the largest first, without threads
 * that have none. `waiting`: those that wait, the longest first.
 */
export const THREAD_SORTS = ['updated', 'created', 'cost', 'tokens', 'waiting'] as const;
export type ThreadSort = (typeof THREAD_SORTS)[number];

/** What threads can be counted by. */
export const COUNTED_BY = ['status', 'agent', 'userId', 'organizationId', 'tag'] as const;
export type CountedBy = (typeof COUNTED_BY)[number];

const isCountedBy = (value: unknown) =>
  Array.isArray(value) && value.every((each) => COUNTED_BY.includes(each as CountedBy));

const THREAD_FILTERS: Readonly<Record<string, Check>> = {
  status: ['a string', isText],
  agent: ['a string', isText],
  userId: ['a string', isText],
  organizationId: ['a string', isText],
  parentId: ['a string', isText],
  rootsOnly: ['true or false', (value) => typeof value === 'boolean'],
  tag: ['a string', isText],
  createdAfter: COUNT,
  createdBefore: COUNT,
  updatedAfter: COUNT,
  updatedBefore: COUNT,
};

const THREADS: Readonly<Record<string, Check>> = {
  limit: PAGE.limit as Check,
  ...THREAD_FILTERS,
  sort: [`one of ${THREAD_SORTS.join(', ')}`, (value) => THREAD_SORTS.includes(value as ThreadSort)],
  before: ['a thread: its id, createdAt and updatedAt', isThreadPlace],
};

const COUNTS: Readonly<Record<string, Check>> = {
  ...THREAD_FILTERS,
  by: [`a list of ${COUNTED_BY.join(', ')}`, isCountedBy],
};

const CHANGES: Readonly<Record<string, Check>> = {
  limit: PAGE.limit as Check,
  cursor: ['a cursor that came with changes', isText],
  userId: ['a string', isText],
  organizationId: ['a string', isText],
  waitMs: COUNT,
  signal: ['an AbortSignal', isSignal],
};

const VALUES: Readonly<Record<string, Check>> = {
  limit: PAGE.limit as Check,
  after: ['a string', isText],
};

const MODEL_CALLS: Readonly<Record<string, Check>> = {
  limit: PAGE.limit as Check,
  order: PAGE.order as Check,
  after: ['the id of a model call', isText],
};

const WAITS: Readonly<Record<string, Check>> = {
  limit: PAGE.limit as Check,
  order: PAGE.order as Check,
  openedBefore: ['a whole number of microseconds since 1970', Number.isSafeInteger],
  threadId: ['a string', isText],
  state: [`one of ${WAIT_STATES.join(', ')}`, (value) => WAIT_STATES.includes(value as WaitState)],
};

const GRANTS: Readonly<Record<string, Check>> = {
  limit: PAGE.limit as Check,
  threadId: ['a string', isText],
  all: ['true or false', (value) => typeof value === 'boolean'],
};

const FOLLOW: Readonly<Record<string, Check>> = {
  after: COUNT,
  follow: ['true or false', (value) => typeof value === 'boolean'],
  signal: ['an AbortSignal', isSignal],
};

/** `forms`: the values of `as`. */
const followForm = (forms: readonly unknown[]): Readonly<Record<string, Check>> => ({
  ...FOLLOW,
  as: [forms.map((form) => `"${form}"`).join(' or '), (value) => forms.includes(value)],
  after: ['a cursor that came with an event', isText],
  run: ['the id of an execution', isText],
  agentId: ['a string', isText],
});

const isRunPlace = (value: unknown) => {
  const { startedAt, threadId, id } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isCount(startedAt) && isText(threadId) && isText(id);
};

const RUNS: Readonly<Record<string, Check>> = {
  limit: PAGE.limit as Check,
  threadId: ['a string', isText],
  runId: ['a string', isText],
  sessionId: ['a string', isText],
  traceId: ['a string', isText],
  agent: ['a string', isText],
  state: ['a string', isText],
  before: ['a record of a run: its startedAt, threadId and id', isRunPlace],
};

/** Each throws `InvalidValue`; an undefined option has its default. */
export const checkPage = <T>(options: T): T => check('getLogs', options, PAGE);
export const checkMessagePage = <T>(options: T): T => check('getMessages', options, MESSAGES);
export const checkThreadPage = <T>(options: T): T => check('listThreads', options, THREADS);
export const checkCountThreads = <T>(options: T): T => check('countThreads', options, COUNTS);
export const checkChanges = <T>(options: T): T => check('listChanges', options, CHANGES);
export const checkExecutionPage = <T>(options: T): T => check('listExecutions', options, RUNS);
export const checkFollow = <T>(options: T): T => check('events', options, FOLLOW);
export const checkFollowForm = <T>(options: T, forms: readonly string[]): T =>
  check('events', options, followForm(forms));
export const checkRunPage = <T>(options: T): T => check('listRuns', options, RUNS);
export const checkValuePage = <T>(options: T): T => check('values', options, VALUES);
export const checkModelCallPage = <T>(options: T): T => check('listModelCalls', options, MODEL_CALLS);
export const checkGrantPage = <T>(options: T): T => check('grants.list', options, GRANTS);
export const checkWaitPage = <T>(options: T): T => check('listWaits', options, WAITS);

function check<T>(name: string, options: T, checks: Readonly<Record<string, Check>>): T {
  if (options === undefined) return options;
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new RuntimeError('InvalidValue', `The options of ${name} must be an object.`);
  for (const [key, value] of Object.entries(options)) {
    const [what, holds] = checks[key] ?? [];
    if (value === undefined || holds?.(value)) continue;
    const why = what ? `must be ${what}` : `is unknown; the options are ${Object.keys(checks).join(', ')}`;
    throw new RuntimeError('InvalidValue', `The option "${key}" of ${name} ${why}.`);
  }
  return options;
}
