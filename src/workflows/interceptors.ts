/**
 * Preprocesses every job of an activation before the SDK handles it.
 * - Payloads from outside reach their handlers undecoded (letter.ts).
 * - Consecutive signals beyond LIMITS.singleSignals are merged into one job. A signal costs the SDK about 0.25 ms, or
 *   0.6 ms if the SDK keeps the stacks of promises itself; the server admits 10,000 at once, and a script that runs
 *   for 5 s is ended and harms other workflows. The first signals remain separate jobs, as in recorded histories.
 * D3. Signals of unknown names arrive under one name, and unknown updates as a `sendMessage` that is refused. With
 *     their own names, those with a prefix that the SDK reserves would make it throw at each attempt of the task.
 * - Signals from before the run began become one job per name, because the SDK buffers them and delivers them name by
 *   name. Later ones keep their order among themselves and with updates.
 */
import type {
  ActivateInput,
  Next,
  WorkflowInterceptors,
  WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { LIMITS } from '../core/value/limit.ts';
import { type Batch, type Budget, type Letter, wrap } from './letter.ts';
import { MIXED_SIGNALS, SIGNAL_NAMES, sendMessage, UPDATE_NAMES } from './messages.ts';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number] & { readonly variant?: string };
type SignalJob = NonNullable<Job['signalWorkflow']>;
type UpdateJob = NonNullable<Job['doUpdate']>;

/** Maximum number of characters kept of an unknown name. */
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
      // Signals before the run began.
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
  // Neither our queries nor the SDK's have arguments.
  if (job.queryWorkflow) {
    const { queryType } = job.queryWorkflow;
    return toJob('queryWorkflow', { ...job.queryWorkflow, queryType: queryType || 'unnamed', arguments: [] });
  }
  return job;
}

function admitUpdate(update: UpdateJob): UpdateJob {
  const name = update.name ?? '';
  const known = UPDATE_NAMES.includes(name);
  const letter: Letter = known ? { name, payload: update.input?.[0] } : { name: name.slice(0, NAME_CHARS) };
  return { ...update, name: sendMessage.name, input: [wrap(letter)] };
}

function toJob<Variant extends keyof Job>(variant: Variant, content: Job[Variant]): Job {
  return { variant, [variant]: content } as Job;
}
