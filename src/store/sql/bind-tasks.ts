/** Binds the commands that only tasks have to one database. */
import { binder } from '../commands/base/bind.ts';
import type { CommandContext } from '../commands/base/context.ts';
import { endTask } from '../commands/task/end-task.ts';
import { getManifest, keepManifest, noteManifest } from '../commands/task/manifest.ts';
import { openTask } from '../commands/task/open-task.ts';
import { getTask, listTaskSteps, listTasks, readLoop } from '../commands/task/read-task.ts';
import { getSession, putSession } from '../commands/task/task-session.ts';
import {
  beginAct,
  emitTaskEvents,
  endAct,
  keepDecision,
  keepObservation,
  keepReadiness,
  restTask,
} from '../commands/task/task-step.ts';
import type { ThreadStore } from '../port/thread-store.ts';

export function bindTasks(context: CommandContext): Pick<ThreadStore, 'tasks'> {
  const bound = binder(context);
  return {
    tasks: {
      open: bound(openTask),
      keepManifest: bound(keepManifest),
      noteManifest: bound(noteManifest),
      getManifest: bound(getManifest),
      get: bound(getTask),
      list: bound(listTasks),
      listSteps: bound(listTaskSteps),
      readLoop: bound(readLoop),
      keepReadiness: bound(keepReadiness),
      keepObservation: bound(keepObservation),
      keepDecision: bound(keepDecision),
      beginAct: bound(beginAct),
      endAct: bound(endAct),
      rest: bound(restTask),
      emit: bound(emitTaskEvents, { once: true }),
      end: bound(endTask),
      getSession: bound(getSession),
      putSession: bound(putSession),
    },
  };
}
