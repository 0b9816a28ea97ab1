/**
 * What every engine of the store must do, whatever database is behind it. The suite uses the commands only: a new
 * engine registers itself here and must pass.
 */
import { afterAll, beforeAll, describe } from '@jest/globals';
import type { EncryptionKeys } from '../../src/store/crypto/encryption.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { registerA2a } from './store/a2a.ts';
import { registerAction } from './store/action.ts';
import { registerAttachment } from './store/attachment.ts';
import { registerBudget } from './store/budget.ts';
import { registerBudgetApproval } from './store/budget-approval.ts';
import { registerBudgetCauses } from './store/budget-causes.ts';
import { registerBudgetContext } from './store/budget-context.ts';
import { registerBudgetFamily } from './store/budget-family.ts';
import { registerBudgetTime } from './store/budget-time.ts';
import { registerCancel } from './store/cancel.ts';
import { registerConcurrency } from './store/concurrency.ts';
import { registerEffect } from './store/effect.ts';
import { registerEnv } from './store/env.ts';
import { registerExecutionClaim } from './store/execution-claim.ts';
import { registerFamily } from './store/family.ts';
import { registerFamilyEnd } from './store/family-end.ts';
import { registerFamilyFiles } from './store/family-files.ts';
import { registerFamilyMessage } from './store/family-message.ts';
import { registerFamilyReport } from './store/family-report.ts';
import { registerFamilyRequest } from './store/family-request.ts';
import { registerFence } from './store/fence.ts';
import { registerFile } from './store/file.ts';
import { registerFileContent } from './store/file-content.ts';
import { registerFork } from './store/fork.ts';
import { registerGrowth } from './store/growth.ts';
import { registerGuard } from './store/guard.ts';
import { registerHandoff } from './store/handoff.ts';
import { registerHistory } from './store/history.ts';
import { registerHook } from './store/hook.ts';
import { registerLimit } from './store/limit.ts';
import { registerLog } from './store/log.ts';
import { registerMcp } from './store/mcp.ts';
import { registerOpenThread } from './store/open-thread.ts';
import { registerOwnMessage } from './store/own-message.ts';
import { registerProducer } from './store/producer.ts';
import { registerQueue } from './store/queue.ts';
import { registerRead } from './store/read.ts';
import { registerRequests } from './store/request.ts';
import { registerRest } from './store/rest.ts';
import { registerRunContext } from './store/run-context.ts';
import { registerRunIndex } from './store/run-index.ts';
import { registerSide } from './store/side.ts';
import { registerSideBySide } from './store/side-by-side.ts';
import { registerStep } from './store/step.ts';
import { registerStrike } from './store/strike.ts';
import { registerSubprompt } from './store/subprompt.ts';
import { registerSubpromptContext } from './store/subprompt-context.ts';
import { registerSummary } from './store/summary.ts';
import { registerSupersede } from './store/supersede.ts';
import { registerTakeOver } from './store/take-over.ts';
import { registerTask } from './store/task.ts';
import { registerTaskKept } from './store/task-kept.ts';
import { registerThreadChanges } from './store/thread-changes.ts';
import { registerThreadFigures } from './store/thread-figures.ts';
import { registerThreadList } from './store/thread-list.ts';
import { registerThreadRemoval } from './store/thread-removal.ts';
import { registerToken } from './store/token.ts';
import { registerTool } from './store/tool.ts';
import { registerValue } from './store/value.ts';
import { registerWait } from './store/wait.ts';
import { registerWaitOfChild } from './store/wait-of-child.ts';

export interface OpenedStore {
  readonly store: ThreadStore;
  /** Closes `store` and opens its data again. */
  reopen(): Promise<ThreadStore>;
  /** Another connection to the same data, with the suite's keys unless others are given. */
  second(keys?: EncryptionKeys): Promise<ThreadStore>;
  /** Closes whatever is still open, and removes the data. */
  close(): Promise<void>;
}

export interface StoreEngine {
  open(): Promise<OpenedStore>;
}

/** What each part of the suite works with. Threads have unique ids, so all parts share one store. */
export interface Stores {
  readonly store: ThreadStore;
  readonly second: ThreadStore;
  readonly engine: StoreEngine;
}

export function registerStoreContract(name: string, engine: StoreEngine): void {
  describe(`the ThreadStore port on ${name}`, () => {
    let opened: OpenedStore;
    let stores: Stores;

    beforeAll(async () => {
      opened = await engine.open();
      stores = { store: opened.store, second: await opened.second(), engine };
    });
    afterAll(() => opened.close());

    const given = (): Stores => stores;
    registerMcp(given);
    registerA2a(given);
    registerOpenThread(given);
    registerFence(given);
    registerProducer(given);
    registerQueue(given);
    registerHook(given);
    registerStep(given);
    registerRequests(given);
    registerRunContext(given);
    registerCancel(given);
    registerSide(given);
    registerSupersede(given);
    registerTakeOver(given);
    registerLimit(given);
    registerTask(given);
    registerTaskKept(given);
    registerThreadList(given);
    registerThreadFigures(given);
    registerThreadChanges(given);
    registerThreadRemoval(given);
    registerToken(given);
    registerTool(given);
    registerSideBySide(given);
    registerAction(given);
    registerWait(given);
    registerWaitOfChild(given);
    registerExecutionClaim(given);
    registerSubprompt(given);
    registerSubpromptContext(given);
    registerSummary(given);
    registerGuard(given);
    registerHandoff(given);
    registerRest(given);
    registerRead(given);
    registerLog(given);
    registerFork(given);
    registerGrowth(given);
    registerRunIndex(given);
    registerOwnMessage(given);
    registerEnv(given);
    registerBudget(given);
    registerBudgetApproval(given);
    registerBudgetContext(given);
    registerBudgetCauses(given);
    registerBudgetFamily(given);
    registerBudgetTime(given);
    registerConcurrency(given);
    registerEffect(given);
    registerValue(given);
    registerFile(given);
    registerFileContent(given);
    registerHistory(given);
    registerAttachment(given);
    registerFamily(given);
    registerFamilyMessage(given);
    registerFamilyReport(given);
    registerFamilyEnd(given);
    registerFamilyFiles(given);
    registerFamilyRequest(given);
    registerStrike(given);
  });
}
