/**
 * `callSubagent`: a call of a subagent, up to a child that is to be started, or that was told something (runtime §7, §8.1,
 * definitions §13.3, §13.4). `finishSubagent` makes the call's result.
 * S1. Every attempt is the same one to the store: what the call has led to is found by the call, and led to once.
 * S2. Whatever is wrong with the call is its result, and says what to do instead.
 */

import { isRuntimeError } from '../../core/error.ts';
import type { ToolCallInput, ToolCallOutcome } from '../../core/step.ts';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE, type Subagent } from '../../core/subagent.ts';
import type { SubagentOutcome } from '../../core/subagent-step.ts';
import { createIds } from '../../state/id.ts';
import type { CallOfChild } from '../../store/port/family.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { beginCall, type ResumableCall, settleCall } from '../tool/resumable-call.ts';
import { findNamedCallee, findOwnCallee } from './callee.ts';
import { finishSubagent } from './finish.ts';
import { bootstrapInput } from './immediate-bootstrap.ts';
import { checkChildArguments, type FirstTold, findFiles, readCreate, readOwnCall } from './input.ts';
import { type MadeChild, makeChild, tellHooks } from './make.ts';
import { tellChild, wakeChild } from './tell.ts';

export async function callSubagent(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<SubagentOutcome> {
  const { store, probe } = dependencies;
  const begun = await beginCall(dependencies, input, 'subagent');
  if (begun.kind === 'over') return toOutcome(begun.outcome);
  await probe?.('subagent_begun');
  const { call } = begun;
  // S1.
  const known = await store.readCallOfChild(call.key.threadId, {
    step: call.key.step,
    index: call.key.index,
  });
  if (known) return resume(dependencies, input, call, known);
  const made = await lead(dependencies, call).catch(toRefusal);
  if (made.kind !== 'refused') return made;
  // S2.
  return toOutcome(await settleCall(dependencies, call, made.composed));
}

/** Another attempt has made the child, or told it, and its answer may not have been heard. */
async function resume(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  call: ResumableCall,
  { start, started, waits, report }: CallOfChild,
): Promise<SubagentOutcome> {
  if (report) {
    const finished = await finishSubagent(dependencies, input);
    if (finished.kind !== 'waiting') return toOutcome(finished);
  }
  if (call.begun.call.name === SUBAGENT_MESSAGE) await wakeChild(dependencies, start.threadId);
  else if (!started) await tellHooks(dependencies, call, start.threadId);
  return { kind: 'child', child: start, start: !started, wait: waits };
}

async function lead(dependencies: ActivityDependencies, call: ResumableCall): Promise<MadeChild> {
  switch (call.begun.call.name) {
    case SUBAGENT_MESSAGE:
      return tellChild(dependencies, call);
    case SUBAGENT_CREATE:
      return createNamed(dependencies, call);
    default:
      return createOwn(dependencies, call);
  }
}

async function createNamed(dependencies: ActivityDependencies, call: ResumableCall): Promise<MadeChild> {
  const read = readCreate(call.begun.call.arguments);
  if (!read.ok) return refused(read.error);
  const { agent, arguments: given, ...first } = read.value;
  const callee = await findNamedCallee(dependencies, call, agent);
  if (!callee.ok) return refused(callee.error);
  const args = checkChildArguments(dependencies.registry(), callee.value, given);
  if (!args.ok) return refused(args.error);
  const { told } = await bootstrapInput(dependencies, call, callee.value);
  return create(dependencies, call, callee.value, { ...first, ...told, arguments: args.value });
}

async function createOwn(dependencies: ActivityDependencies, call: ResumableCall): Promise<MadeChild> {
  const callee = await findOwnCallee(dependencies, call);
  if (!callee.ok) return refused(callee.error);
  const { arguments: text, told } = await bootstrapInput(dependencies, call, callee.value);
  const read = readOwnCall(dependencies.registry(), callee.value, text, told);
  return read.ok ? create(dependencies, call, callee.value, read.value) : refused(read.error);
}

async function create(
  dependencies: ActivityDependencies,
  call: ResumableCall,
  subagent: Subagent,
  first: FirstTold,
): Promise<MadeChild> {
  const { store } = dependencies;
  const { threadId, step, index } = call.key;
  const nextId = createIds(store, `${threadId}:${step}:${index}:first`);
  const files = await findFiles({ store, threadId, nextId }, call.begun.call.name, first.attachments);
  if (!files.ok) return refused(files.error);
  return makeChild(dependencies, call, subagent, { ...first, attachments: files.value });
}

type Refused = Extract<MadeChild, { kind: 'refused' }>;

function refused(error: string): Refused {
  return { kind: 'refused', composed: { result: { status: 'error', error } } };
}

/** S2: variables that this worker cannot read, or that cannot be kept. Nothing was made. */
function toRefusal(error: unknown): Refused {
  if (isRuntimeError(error, 'InvalidConfiguration') || isRuntimeError(error, 'InvalidVariable')) {
    return refused(`The subagent was not asked: ${error.message}`);
  }
  throw error;
}

function toOutcome(outcome: ToolCallOutcome): SubagentOutcome {
  return outcome.kind === 'terminated' ? outcome : { kind: 'settled', outcome };
}
