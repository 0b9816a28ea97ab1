/** A workflow that holds a stream until it receives the signal `end`. */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { WorkflowStream } from '@temporalio/workflow-streams/workflow';

export const end = defineSignal('end');

export async function holdsStream() {
  let over = false;
  setHandler(end, () => {
    over = true;
  });
  new WorkflowStream();
  await condition(() => over);
}
