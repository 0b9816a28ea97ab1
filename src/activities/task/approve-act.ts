/**
 * Stages of an act before it begins: it is prepared, judged by the policy of the task's agent, and approved if that
 * asks for it.
 */
import { randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { type AskedAction, findEvaluators, showAction } from '../../author/policy/asked-action.ts';
import { end, go, type Verdict } from '../../author/policy/gate.ts';
import {
  type Asked,
  findEarlier,
  type Judged,
  refuseAction,
  toDenial,
  toRefusal,
} from '../../author/policy/judge-action.ts';
import type { AnsweredCall } from '../../author/tool/check-arguments.ts';
import { findRules, NO_RULES } from '../../core/governance/agent-policy.ts';
import { readPrepared } from '../../core/governance/prepared-action.ts';
import type { TaskDecision } from '../../core/task/control.ts';
import type { WaitingCall } from '../../core/thread/step.ts';
import { errorMessage, isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { isRecord } from '../../core/value/record.ts';
import type { DecidedAction } from '../../store/action/action-record.ts';
import type { TaskStepRecord } from '../../store/task/task-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';
import { runPhase, type TaskFrame, toDecideContext } from './task-frame.ts';

export type Act = Extract<TaskDecision, { kind: 'act' }>;

export interface TaskCall {
  readonly frame: TaskFrame;
  readonly seen: TaskStepRecord;
  readonly act: Act;
  /** Unique name of the attempt. */
  readonly attempt: string;
}

/** This attempt has nothing left to do. */
interface NotBegun {
  readonly kind: 'settled' | 'terminated';
}

export type ActGateEnd = AnsweredCall | WaitingCall | NotBegun;

interface AskedBefore {
  /** Fingerprint of the act, if its approval has been asked for: then the answer counts, whatever the policy is now. */
  readonly askedBefore: string | undefined;
}

export async function askTask(
  { store, registry }: ActivityDependencies,
  { frame, seen, act }: TaskCall,
): Promise<Verdict<Asked & AskedBefore, ActGateEnd>> {
  const { definition, run, step, signal } = frame;
  const project = registry();
  const { agent = definition.name } = definition;
  const policy = definition.agent ? project.agents.get(agent)?.policy : undefined;
  const { permissions = {} } = frame.loop.context ?? {};
  const id = `${run.threadId}:${step}`;
  const [known] = frame.loop.task.status === 'waiting' ? await store.actions.list({ id }) : [];
  const askedBefore = known?.state === 'requested' ? known.fingerprint : undefined;
  const rules = findRules(policy, { permissions }) ?? (askedBefore === undefined ? undefined : NO_RULES);
  // No policy judges the act.
  if (!rules) return go({ asked: undefined, askedBefore });
  const thread = await store.threads.get(run.threadId);
  if (!thread) return end({ kind: 'terminated' });
  const prepared = await prepareAct(frame, seen, act);
  if (!prepared.ok) {
    const error = `"${definition.name}" did not act, because it could not be prepared: ${prepared.message}`;
    return end({ kind: 'answered', result: { status: 'error', error }, refused: true });
  }
  const { capabilities = [] } = prepared.value;
  const asked: AskedAction = {
    ...{ id, kind: 'task.act', name: readActionName(act, definition.name), rules, signal, step },
    thread: { ...thread, agent },
    capabilities: [...(definition.capabilities ?? []), ...capabilities],
    args: act.action,
    prepared: prepared.value,
    ...findEvaluators(project, rules.policy, agent),
    runContext: null,
  };
  return go({ asked, askedBefore });
}

function prepareAct(frame: TaskFrame, seen: TaskStepRecord, { action }: Act) {
  const { prepareAction } = frame.definition.adapter;
  return runPhase(frame, 'prepareAction', async () =>
    readPrepared(await prepareAction?.(action, toDecideContext(frame, seen))),
  );
}

/** The name that the action states, directly or as `type`, `kind` or `name`; `otherwise` if it states none. */
function readActionName({ action }: Act, otherwise: string): string {
  const kind = isRecord(action) ? (action.type ?? action.kind ?? action.name) : action;
  return typeof kind === 'string' && kind !== '' ? kind.slice(0, 128) : otherwise;
}

export async function approveTask(
  { store, probe }: ActivityDependencies,
  { asked, action, frame, askedBefore }: TaskCall & Asked & Judged & AskedBefore,
) {
  if (!asked || !action) return go();
  const { fingerprint } = action.action;
  if (action.decision.effect !== 'require_approval' && fingerprint !== askedBefore) return go();
  const earlier = await findEarlier(store, asked, action);
  if (earlier) return earlier.approved ? go() : refuseAction(action, toRefusal(earlier));
  if (asked.rules.policy.approvals === 'refuse') return refuseAction(action, toDenial(action.decision));
  const { waitTimeoutMs: expiresInMs } = frame.definition;
  // Set before the wait is opened: whoever sees the wait must see a task that waits.
  await store.tasks.rest({ ...frame.run, waits: true });
  try {
    const opened = await retryWhileUnavailable(asked.signal, () =>
      store.waits.open({
        id: randomUUID(),
        threadId: asked.thread.id,
        key: `approval:${frame.step}:${fingerprint}`,
        kind: 'approval',
        name: asked.name,
        ...showAction(asked, action),
        fingerprint,
        blocks: true,
        action,
        expiresInMs,
      }),
    );
    await probe?.('wait_opened');
    if (opened.kind === 'open') return end(toWaitingCall(opened.wait));
    if (opened.kind === 'over') return judgeAnswer(action, opened.wait);
    return end({ kind: 'terminated' });
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    // The act cannot be shown to anyone, so it cannot be approved.
    const reason = `Its approval could not be requested: ${errorMessage(error)}`;
    return refuseAction(action, { code: 'ApprovalRequired', reason });
  }
}

/** Anything but an approval refuses. */
function judgeAnswer(action: DecidedAction, { answer, state, reason }: Wait) {
  if (answer && 'approved' in answer && answer.approved) return go();
  if (answer && 'approved' in answer) return refuseAction(action, toRefusal(answer));
  return refuseAction(action, {
    code: 'ActionDenied',
    reason: `Its approval was not given: ${reason ?? state}.`,
  });
}
