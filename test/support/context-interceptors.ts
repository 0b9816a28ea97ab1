/**
 * Applies our workflow interceptors to `thread` only: the workflows of `context-workflows.ts` receive their signals
 * directly from the SDK.
 */
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import { interceptors as ofThread } from '../../src/workflows/interceptors.ts';

export function interceptors(): WorkflowInterceptors {
  return workflowInfo().workflowType === 'thread' ? ofThread() : {};
}
