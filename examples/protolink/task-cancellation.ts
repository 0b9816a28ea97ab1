/**
 * A tool works in small steps, and would commit at their end. The task is canceled meanwhile: nothing is committed, and the stream ends with one
 * final event. Needs a Temporal server (`everthread dev`, TEMPORAL_ADDRESS).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, RunRecorder, Task } from '../../src/faces/protolink/index.ts';

const committed: string[] = [];
let begun = () => {};
const working = new Promise<void>((resolve) => {
  begun = resolve;
});

const agent = new Agent({ name: 'slow-worker', description: 'Works slowly.' }).tool(
  { name: 'slow_commit', description: 'Commits after many steps.' },
  async (_args, { signal, raiseIfCancelled }) => {
    for (let step = 1; step <= 600; step += 1) {
      if (step === 3) begun();
      await sleep(100, undefined, { signal });
    }
    raiseIfCancelled();
    committed.push('done');
    return 'committed';
  },
);

const task = Task.createToolCall({ toolName: 'slow_commit' });
const recorder = new RunRecorder();
try {
  const canceling = working.then(() => agent.cancelTask(task.id, 'Stopped by user'));
  for await (const event of agent.handleTaskStreaming(task)) {
    recorder.emit(event);
    console.log(`${event.sequence} ${event.type}: ${event.summary}`);
  }
  await canceling;
  const { events } = recorder.toReport();
  const final = events.at(-1);
  console.log(`final: ${final?.type} ${final?.payload.new_state}, reason: ${task.metadata.cancel_reason}`);
  console.log(`task: ${task.state}, committed: ${JSON.stringify(committed)}`);
} finally {
  await agent.close();
}
