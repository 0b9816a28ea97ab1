/**
 * The artifacts of a task: its answers, each under the id of the answer's message, and the files that it writes.
 * - An answer that has a type is a text, and behind it the same as data.
 * - A piece of text is appended; discarded or committed text replaces all that was sent of it. So a reader that has
 *   missed pieces receives the whole text with the commit.
 */
import { answerIdOf } from '../../core/message/answer-id.ts';
import { parseRecord } from '../../core/value/record.ts';
import type { A2aArtifact, A2aFrame, A2aPart } from './a2a-shape.ts';
import type { TaskHandlers, TaskTransition } from './task-handler.ts';
import type { OpenTask } from './task-state.ts';

export const ARTIFACT_HANDLERS: TaskHandlers = {
  'model.chunk': (open, { step, data: { delta, depth } }) => {
    // Text of a sub-prompt is no answer to the user.
    if (depth !== undefined || delta === '') return [open, []];
    const id = answerArtifactId(open, step);
    const parts = [{ text: delta }];
    return emitArtifact({ ...open, text: id }, answerArtifact(id, parts), {
      append: open.text === id,
      last: false,
    });
  },
  'attempt.discarded': (open, { data: { depth } }) => (depth === undefined ? withdrawText(open) : [open, []]),
  'step.committed': (open, { step, data: { messageId, depth, typed } }) => {
    if (depth !== undefined) return [open, []];
    const content = (open.said?.id === messageId ? open.said.content : null) ?? '';
    if (content === '') return withdrawText(open);
    const value = typed && parseRecord(content);
    const data: A2aPart[] = value ? [{ data: value, mediaType: 'application/json' }] : [];
    const whole = answerArtifact(answerArtifactId(open, step), [{ text: content }, ...data]);
    return emitArtifact({ ...open, text: null }, whole, { append: false, last: true });
  },
  'file.created': (open, { data }) => emitFile(open, data),
  'file.updated': (open, { data }) => emitFile(open, data),
  'file.deleted': (open, { data: { path } }) => [removeArtifact(open, path), []],
};

function answerArtifactId({ task }: OpenTask, step = 0): string {
  return answerIdOf(task.contextId, step);
}

function answerArtifact(artifactId: string, parts: readonly A2aPart[]): A2aArtifact {
  return { artifactId, name: 'answer', parts };
}

/** Withdraws the streamed text. Its artifact is sent with one empty part, because an artifact must have a part. */
function withdrawText(open: OpenTask): TaskTransition {
  if (open.text === null) return [open, []];
  const [, frames] = emitArtifact(open, answerArtifact(open.text, [{ text: '' }]), {
    append: false,
    last: true,
  });
  return [removeArtifact({ ...open, text: null }, open.text), frames];
}

/** Emits a file as an artifact. Files under /attachments came with messages and are skipped. */
function emitFile(
  open: OpenTask,
  { path, mimeType }: { readonly path: string; readonly mimeType: string },
): TaskTransition {
  if (path.startsWith('/attachments/')) return [open, []];
  const filename = path.slice(path.lastIndexOf('/') + 1);
  const parts = [{ url: path, mediaType: mimeType, filename }];
  return emitArtifact(open, { artifactId: path, name: filename, parts }, { append: false, last: true });
}

function removeArtifact(open: OpenTask, id: string): OpenTask {
  const artifacts = open.task.artifacts.filter(({ artifactId }) => artifactId !== id);
  return { ...open, task: { ...open.task, artifacts } };
}

function emitArtifact(
  open: OpenTask,
  artifact: A2aArtifact,
  { append, last }: { readonly append: boolean; readonly last: boolean },
): TaskTransition {
  const { task } = open;
  const { id: taskId, contextId, artifacts } = task;
  const known = artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
  const parts = append && known ? [joinTexts(known.parts, artifact.parts)] : artifact.parts;
  const whole = { ...artifact, parts };
  const next = known ? artifacts.map((each) => (each === known ? whole : each)) : [...artifacts, whole];
  const artifactUpdate = { taskId, contextId, artifact, append, lastChunk: last };
  return [{ ...open, task: { ...task, artifacts: next } }, [{ artifactUpdate } satisfies A2aFrame]];
}

/** Joins the pieces of a text: in the task it is a single part. */
function joinTexts(known: readonly A2aPart[], more: readonly A2aPart[]): A2aPart {
  return { text: [...known, ...more].map(({ text = '' }) => text).join('') };
}
