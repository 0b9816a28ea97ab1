/** `openThread`: the first activity of every workflow run: registers it with the store and returns where to go on. */

import { findActiveSide, hasTwoSides } from '../../core/project/active-side.ts';
import type { OpenThreadInput, OpenThreadOutcome } from '../../core/thread/open-thread.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { currentRunId } from '../base/run-ref.ts';
import { agentNotFound } from '../model/request.ts';
import { readStepEnv } from '../model/step-env.ts';
import { definesEndHook, runEndHooks } from './end-hooks.ts';

export async function openThread(
  dependencies: ActivityDependencies,
  input: OpenThreadInput,
): Promise<OpenThreadOutcome> {
  const { store, settings, registry, probe } = dependencies;
  if (input.storeId !== undefined && input.storeId !== store.id) {
    throw new RuntimeError(
      'StoreMismatch',
      `Thread "${input.threadId}" lives in store ${input.storeId}, but this worker uses store ${store.id}.`,
    );
  }
  if (input.storeId !== undefined) await probe?.('thread_opening');
  const { storeId, stored, ...command } = input;
  const opened = await store.threads.open({
    ...command,
    ...(stored ? await store.sent.read(input.threadId, stored) : {}),
    runId: currentRunId(),
    mustExist: storeId !== undefined,
  });
  // The parent must be notified, whoever ended the thread.
  if (opened.kind === 'terminated') {
    await runEndHooks(dependencies, { threadId: input.threadId, status: 'terminated' });
    return { ...opened, storeId: store.id };
  }
  const { thread, afterStep, turnOpen, waiting } = opened;
  const active = findActiveSide(registry(), thread.agent, thread.session.side);
  // Required variables must have values when a thread is new (definitions §3). Each execution checks them again.
  const env =
    active && storeId === undefined ? await readStepEnv(dependencies, thread, { begun: false }) : undefined;
  const missing = env && !env.ok ? env.error : undefined;
  const lastError = active ? missing : agentNotFound(thread.agent, thread.id);
  return {
    kind: 'open',
    storeId: store.id,
    agent: thread.agent,
    status: thread.status,
    settings,
    afterStep,
    turnOpen,
    waiting,
    session: hasTwoSides(active?.agent) ? thread.session : undefined,
    reportDue: opened.reportDue || undefined,
    unstarted: opened.unstarted || undefined,
    parent: thread.childCount > 0 || undefined,
    tellsEnd: definesEndHook(dependencies) || undefined,
    model: active?.prompt.model,
    lastError,
  };
}
