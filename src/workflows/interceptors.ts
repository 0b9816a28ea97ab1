/**
 * The door of the workflow: every job of an activation passes here before the SDK looks at it.
 * D1. Payloads of strangers go to their handlers unread (letter.ts).
 * D2. A signal costs the SDK some 0.6 ms, for it takes the stack of every promise; the server admits 10,000 at once, and a
 *     script that runs for 5 s is ended and harms other workflows. So those beyond LIMITS.singleSignals that follow one
 *     another are one job. The first ones stay jobs of their own, as histories were recorded.
 * D3. The SDK throws at names with a prefix of its own, at each attempt of the task. What a thread does not know
 *     arrives under one name; an unknown update as one that `sendMessage` refuses.
 * D4. Before a run has begun, the SDK keeps signals and hands them over name by name, whatever came between; so there they are
 *     one job for each name. Later they keep their order among themselves and with updates.
 */
import type {
  ActivateInput,
  Next,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { LIMITS } from '../core/limit.ts';
import { type Batch, type Budget, type Letter, wrap } from './letter.ts';
import { MIXED_SIGNALS, SIGNAL_NAMES, sendMessage } from './messages.ts';

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
  const starts = jobs.some(({ initializeWorkflow }) => initializeWorkflow);
  const admitted: Job[] = [];
  const groups = new Map<string, Group>();
  let signals = 0;
  for (const job of jobs) {
    if (!job.signalWorkflow) {
      // D4.
      if (!starts) groups.clear();
      admitted.push(admitOther(job));
      continue;
    }
    signals += 1;
    const letter = toLetter(job.signalWorkflow);
    const single = signals <= LIMITS.singleSignals;
    const name = single || starts ? nameOf(letter) : MIXED_SIGNALS;
    const group = single ? undefined : groups.get(name);
    if (group) group.letters.push(letter);
    else {
      const begun: Group = { name, letters: [letter] };
      if (!single) groups.set(name, begun);
      admitted.push(signalJob(job.signalWorkflow, begun, budget));
    }
  }
  return admitted;
}

function toLetter({ signalName, input }: SignalJob): Letter {
  const name = signalName ?? '';
  if (SIGNAL_NAMES.includes(name)) return { name, payload: input?.[0] };
  return { name: name.slice(0, NAME_CHARS) };
}

function nameOf({ name = '' }: Letter): string {
  return SIGNAL_NAMES.includes(name) ? name : MIXED_SIGNALS;
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
  const name = update.name ?? '';
  const known = name === sendMessage.name;
  const letter: Letter = known ? { name, payload: update.input?.[0] } : { name: name.slice(0, NAME_CHARS) };
  return { ...update, name: sendMessage.name, input: [wrap(letter)] };
}

function toJob<Variant extends keyof Job>(variant: Variant, content: Job[Variant]): Job {
  return { variant, [variant]: content } as Job;
}
