/**
 * The door of the workflow: every job of an activation passes here before the SDK handles it.
 * D1. Payloads from outside reach their handlers undecoded (letter.ts).
 * D2. A signal costs the SDK some 0.25 ms, 0.6 ms where it keeps the stacks of promises itself; the server admits 10,000 at once, and a
 *     script that runs for 5 s is ended and harms other workflows. So signals beyond LIMITS.singleSignals that follow one
 *     another become one job. The first ones stay jobs of their own, as recorded histories have them.
 * D3. The SDK throws at names with a prefix of its own, at each attempt of the task. Signals that a thread does not know
 *     arrive under one name; unknown updates as one that `sendMessage` refuses.
 * D4. Signals that came before the run began are buffered by the SDK and delivered name by name; so there they become one job for
 *     each name. Later they keep their order among themselves and with updates.
 */
import type {
  ActivateInput,
  Next,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { LIMITS } from '../core/value/limit.ts';
import { type Batch, type Budget, type Letter, wrap } from './letter.ts';
import { cancelExecutionNow, MIXED_SIGNALS, SIGNAL_NAMES, sendMessage } from './messages.ts';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number] & { readonly variant?: string };
type SignalJob = NonNullable<Job['signalWorkflow']>;
type UpdateJob = NonNullable<Job['doUpdate']>;

/** What is kept of an unknown name. */
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
      // D4: signals before the run began.
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

/** Names of updates that a thread knows. */
const UPDATE_NAMES: readonly string[] = [sendMessage.name, cancelExecutionNow.name];

function admitUpdate(update: UpdateJob): UpdateJob {
  const name = update.name ?? '';
  const known = UPDATE_NAMES.includes(name);
  const letter: Letter = known ? { name, payload: update.input?.[0] } : { name: name.slice(0, NAME_CHARS) };
  return { ...update, name: known ? name : sendMessage.name, input: [wrap(letter)] };
}

function toJob<Variant extends keyof Job>(variant: Variant, content: Job[Variant]): Job {
  return { variant, [variant]: content } as Job;
}
