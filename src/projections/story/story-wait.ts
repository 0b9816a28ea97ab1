/** What a thread waits for, what its budget allows, and its task. */
import type { EventData, EventKind } from '../../core/event/thread-event.ts';
import type { LineLimit } from '../../core/governance/budget-line.ts';
import type { WaitScope } from '../../core/wait/answer.ts';
import { type StoryHandlers, tell } from './story-handler.ts';
import { because, close, count, counted, cut, dollars, list, moment, quote } from './words.ts';

type WaitKinds = Extract<
  EventKind,
  `wait.${string}` | `grant.${string}` | `budget.${string}` | `variables.${string}` | `task.${string}`
>;

export const WAIT_STORY: StoryHandlers<WaitKinds> = {
  'wait.opened': tell('wait', (data) => {
    const until = data.expiresAt === null ? '' : ` It waits until ${moment(data.expiresAt)}.`;
    const wanted = WANTED[data.kind](quote(data.name));
    return `${whoOf(data)} waits for ${wanted} (wait ${cut(data.waitId, 64)}): ${close(data.summary)}${until}`;
  }),
  'wait.answered': tell('wait', ({ kind, name, approved, scope, covers, until, reason, by, changed }) => {
    const who = by === undefined ? 'A person' : cut(by, 64);
    if (approved === undefined) return `${who} has answered what ${quote(name)} asked.`;
    const what =
      kind === 'approval'
        ? `${approved ? 'approves' : 'denies'} ${quote(name)}`
        : approved
          ? 'lets it go on'
          : 'does not let it go on';
    return `${who} ${what}${changed ? ' with changed arguments' : ''}${covers === 'tool' ? ', with any arguments' : ''}${SCOPES[scope ?? 'once']}${until === undefined ? '' : `, until ${moment(until)}`}${because(reason)}`;
  }),
  'grant.revoked': tell('wait', ({ name, by }) => {
    const who = by === undefined ? 'A person' : cut(by, 64);
    return `${who} revokes what was approved of ${quote(name)} beyond one call.`;
  }),
  'wait.closed': tell('wait', ({ name, threadId, reason, approved, by }) => {
    const below = threadId === undefined ? '' : ` of the subagent ${cut(threadId, 64)}`;
    const who = by === undefined ? '' : ` by ${cut(by, 64)}`;
    const how = approved === undefined ? '' : approved ? ': yes' : ': no';
    if (reason === 'answered') return `The wait for ${quote(name)}${below} was answered${who}${how}.`;
    if (reason === 'released') return `The wait for ${quote(name)}${below} holds this thread up no more.`;
    return `The wait for ${quote(name)}${below} is over, unanswered${reason === 'expired' ? ': its time is up.' : because(reason)}`;
  }),
  'variables.requested': tell(
    'wait',
    ({ agent, missing }) =>
      `A subagent with the agent ${quote(agent)} lacks ${list(missing)}: it begins once they are provided.`,
  ),

  'budget.warning': tell(
    'budget',
    (data) => `The budget is nearly used up: ${amountOf(data, data.used)}.${policyOf(data)}`,
  ),
  'budget.exceeded': tell('budget', (data) =>
    data.policy === undefined
      ? `The budget is used up: it would be ${amountOf(data, data.observed)}. The turn ends.`
      : `The turn ends.${policyOf(data)}`,
  ),

  'task.created': tell('status', ({ name, intent }) => `The task ${quote(name)} begins: ${close(intent)}`),
  'task.manifest': null,
  'task.checking': null,
  'task.asked': tell(
    'wait',
    ({ questions }) => `The task asks: ${cut(questions.map(({ question }) => question).join(' '))}`,
  ),
  'task.answered': tell(
    'wait',
    ({ requirementIds }) => `Questions of the task were answered: ${list(requirementIds)}.`,
  ),
  'task.acquiring': tell(
    'step',
    ({ plans }) => `The task searches for missing knowledge (${counted(plans.length, 'plan')}).`,
  ),
  'task.acquired': tell(
    'step',
    ({ evidenceIds }) => `The task has found ${counted(evidenceIds.length, 'piece')} of evidence.`,
  ),
  'task.readiness': null,
  'task.observed': tell('step', ({ score, evals, failing }) => {
    const reached = score === null ? '' : `, score ${score}`;
    return `The task has observed its domain: ${counted(evals, 'eval')}, ${failing.length} failing${reached}.`;
  }),
  'task.decided': tell('step', ({ kind }) => `The task decides: ${kind}.`),
  'task.acting': null,
  'task.acted': tell('step', ({ ok, code, error, costUsd }) => {
    const cost = costUsd === undefined ? '' : ` It cost ${dollars(costUsd)}.`;
    return ok
      ? `The task has acted.${cost}`
      : `An act of the task failed${code ? ` (${code})` : ''}${because(error)}${cost}`;
  }),
  'task.emitted': null,
  'task.failed': tell(
    'error',
    ({ phase, message }) => `The phase ${quote(phase)} of the task failed${because(message)}`,
  ),
  'task.ended': tell('status', ({ status, steps, spentCostUsd, reason }) => {
    return `The task has ${status} after ${counted(steps, 'step')}, for ${dollars(spentCostUsd)}${because(reason)}`;
  }),
};

const WANTED: Readonly<Record<EventData['wait.opened']['kind'], (name: string) => string>> = {
  approval: (name) => `a person to approve ${name}`,
  question: (name) => `an answer to ${name}`,
  variables: (name) => `variables of ${name}`,
  paused: () => 'a person to let it go on',
  reconcile: (name) => `a person to say whether ${name} has taken effect`,
};

function whoOf({ threadId }: EventData['wait.opened']): string {
  return threadId === undefined ? 'The thread' : `The subagent ${cut(threadId, 64)}`;
}

const SCOPES: Readonly<Record<WaitScope, string>> = {
  once: '',
  execution: ', for this turn',
  thread: ', for this thread',
  always: ', always',
};

const UNITS: Readonly<Record<Exclude<LineLimit, 'maxCost'>, string>> = {
  maxSteps: 'steps',
  maxLlmCalls: 'requests to models',
  maxToolCalls: 'calls of tools',
  maxInputTokens: 'tokens in',
  maxOutputTokens: 'tokens out',
  maxRuntimeSeconds: 'seconds of work',
  familyCalls: 'requests to models in the family',
};

type Limited = EventData['budget.warning' | 'budget.exceeded'];

function amountOf({ limit, max, threadId }: Limited, used: number): string {
  const amount =
    limit === 'maxCost'
      ? `${dollars(used)} of ${dollars(max)}`
      : `${count(used)} of ${count(max)} ${UNITS[limit]}`;
  return threadId === undefined ? amount : `${amount}, of the thread ${cut(threadId, 64)}`;
}

function policyOf({ policy, reason }: Limited): string {
  return policy === undefined ? '' : ` The policy ${quote(policy)} says${because(reason)}`;
}
