/** Drives the call of a prompt through the store as `runSubprompt` does. */
import type { CommittedStep } from '../../../src/store/step/step-record.ts';
import type { OpenedSubprompt, OpenSubprompt } from '../../../src/store/tool/subprompt-record.ts';
import type { StepRef } from '../../../src/store/transaction/from-run.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };

/** A thread whose step 1 has called a prompt, and whose call has begun. */
export async function withPromptCall(given: () => Stores, ...more: string[]): Promise<ThreadDriver> {
  const thread = await openThread(given().store);
  const names = ['consult', ...more];
  await thread.answer([message('a')], {
    content: 'let me ask',
    toolCalls: names.map((name, n) => call(`c${n}`, name)),
  });
  await begin(thread);
  return thread;
}

export const begin = (thread: ThreadDriver, step = 1, index = 0) =>
  thread.beginTool(step, index, 'subprompt', true);

export function open(
  thread: ThreadDriver,
  fields: Partial<OpenSubprompt> = {},
  place: { step: number; index: number } = { step: 1, index: 0 },
): Promise<OpenedSubprompt> {
  const asked = {
    prompt: 'consult',
    arguments: { topic: 'x' },
    parentId: `result-${place.step}-${place.index}`,
  };
  return thread.store.subprompts.open({ ...thread.from, ...place, ...asked, ...fields });
}

export async function opened(
  thread: ThreadDriver,
  ...args: [Partial<OpenSubprompt>?, { step: number; index: number }?]
) {
  const answer = await open(thread, ...args);
  if (answer.kind !== 'call') throw new Error(`The prompt should be asked, not ${answer.kind}.`);
  return { ...thread.from, step: answer.step, attempt: answer.attempt };
}

export const say = (thread: ThreadDriver, ref: StepRef, ...calls: string[]): Promise<CommittedStep> =>
  thread.commit(ref, {
    content: calls.length > 0 ? null : 'as I see it',
    toolCalls: calls.map((name, n) => call(`i${n}`, name, `{"n":${n}}`)),
    usage,
  });

export const finish = (thread: ThreadDriver, step = 1, index = 0) =>
  thread.commitTool(step, index, { attempt: 'subprompt', result: { status: 'success', result: 'told' } });

export const deep = async (thread: ThreadDriver) =>
  (await thread.store.messages.list(thread.id, { maxDepth: 9, includeSilent: true })).messages.filter(
    ({ depth }) => depth > 0,
  );
