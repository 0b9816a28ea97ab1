/**
 * The door of the workflow: every job of an activation passes here before the SDK looks at it.
 * D1. Payloads of strangers go to their handlers unread (letter.ts).
 * D2. A signal costs the SDK some 0.6 ms, for it takes the stack of every promise; the server admits 10,000 at once, and a
 *     script that runs for 5 s is ended and harms other workflows. So beyond LIMITS.singleSignals, signals of one name that
 *     follow one another are one job. The first ones stay jobs of their own, as histories were recorded.
 * D3. The SDK throws at names with a prefix of its own, at each attempt of the task. What a thread does not know
 *     arrives under one name, as unknown; an unknown update as one that `sendMessage` refuses.
 */
import type {
  ActivateInput,
  Next,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { LIMITS } from '../core/limit.ts';
import { type Batch, type Budget, type Letter, wrap } from './letter.ts';
import { SIGNAL_NAMES, sendMessage, UNKNOWN_SIGNAL } from './messages.ts';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number] & { readonly variant?: string };
type SignalJob = NonNullable<Job['signalWorkflow']>;
type UpdateJob = NonNullable<Job['doUpdate']>;

/** Enough to recognise a name that somebody has made up. */
const NAME_CHARS = 64;

export function interceptors(): WorkflowInterceptors {
  return { internals: [{ activate }] };
}

function activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
  const { activation } = input;
  next({ ...input, activation: { ...activation, jobs: admit(activation.jobs ?? []) } });
}

interface Group {
  readonly name: string;
  readonly letters: Letter[];
}

function admit(jobs: readonly Job[]): Job[] {
  const budget: Budget = { left: LIMITS.scriptBytes };
  const admitted: Job[] = [];
  let signals = 0;
  let group: Group | undefined;
  for (const job of jobs) {
    if (!job.signalWorkflow) {
      group = undefined;
      admitted.push(admitOther(job));
      continue;
    }
    const { name, letter } = readSignal(job.signalWorkflow);
    signals += 1;
    if (group?.name === name && signals > LIMITS.singleSignals) group.letters.push(letter);
    else {
      group = { name, letters: [letter] };
      admitted.push(signalJob(job.signalWorkflow, group, budget));
    }
  }
  return admitted;
}

function readSignal({ signalName, input }: SignalJob): { name: string; letter: Letter } {
  if (SIGNAL_NAMES.includes(signalName ?? '')) {
    return { name: signalName as string, letter: { payload: input?.[0] } };
  }
  return { name: UNKNOWN_SIGNAL, letter: { unknown: (signalName ?? '').slice(0, NAME_CHARS) } };
}

function signalJob(signal: SignalJob, { name, letters }: Group, budget: Budget): Job {
  const batch: Batch = { letters, budget };
  return toJob('signalWorkflow', { ...signal, signalName: name, input: [wrap(batch)] });
}

function admitOther(job: Job): Job {
  if (job.doUpdate) return toJob('doUpdate', admitUpdate(job.doUpdate));
  if (job.initializeWorkflow) {
    const letter: Letter = { payload: job.initializeWorkflow.arguments?.[0] };
    return toJob('initializeWorkflow', { ...job.initializeWorkflow, arguments: [wrap(letter)] });
  }
  // No query of ours has arguments, nor has one of the SDK's.
  if (job.queryWorkflow) {
    const { queryType } = job.queryWorkflow;
    return toJob('queryWorkflow', { ...job.queryWorkflow, queryType: queryType || 'unnamed', arguments: [] });
  }
  return job;
}

function admitUpdate(update: UpdateJob): UpdateJob {
  const known = update.name === sendMessage.name;
  const letter: Letter = known
    ? { payload: update.input?.[0] }
    : { unknown: (update.name ?? '').slice(0, NAME_CHARS) };
  return { ...update, name: sendMessage.name, input: [wrap(letter)] };
}

function toJob<Variant extends keyof Job>(variant: Variant, content: Job[Variant]): Job {
  return { variant, [variant]: content } as Job;
}
