/** Cancels a task by its id, or, as Protolink does, by the id that its sender gave to both its message and context. */
import { isRuntimeError } from '../../../core/value/error.ts';
import type { A2aTask } from '../../../projections/a2a/a2a-shape.ts';
import type { Caller } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { type CancelTask, cancelTask } from './cancel-task.ts';
import { taskIdOf } from './send-message.ts';

/** Throws `ExecutionNotFound`, `ExecutionNotCancelable`. */
export async function cancelNamedTask(host: ApiHost, caller: Caller, asked: CancelTask): Promise<A2aTask> {
  return cancelTask(host, caller, asked).catch((error: unknown) => {
    if (!isRuntimeError(error, 'ExecutionNotFound')) throw error;
    return cancelTask(host, caller, { ...asked, id: taskIdOf(asked.id, asked.id) }).catch(
      (other: unknown) => {
        throw isRuntimeError(other, 'ExecutionNotFound') ? error : other;
      },
    );
  });
}
