/** The door of our workflows for `thread` alone: the workflows of `context-workflows.ts` get their signals as the SDK gives them. */
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import { interceptors as ofThread } from '../../src/workflows/interceptors.ts';

export function interceptors(): WorkflowInterceptors {
  return workflowInfo().workflowType === 'thread' ? ofThread() : {};
}
