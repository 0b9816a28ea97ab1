/** Checks Everthread's promises to families after the story, in the store, the event logs and Temporal. */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { Message } from '../../src/core/message/message.ts';
import { REPORT_START } from '../../src/core/thread/subagent-report.ts';
import type { ChildRecord } from '../../src/store/family/family-record.ts';
import type { ThreadRecord } from '../../src/store/thread/thread-record.ts';
import type { FamilyLog, Relative } from './family-log.ts';
import type { Finding } from './promise.ts';
import type { Crash } from './story.ts';

interface Evidence {
  readonly root: ThreadRecord;
  readonly messages: readonly Message[];
  readonly children: readonly ChildRecord[];
  readonly relatives: readonly Relative[];
  readonly crashes: readonly Crash[];
  /** Workflow id of each child's parent, according to Temporal. */
  readonly parents: readonly (string | null | undefined)[];
  /** Number of the root's files that reports name, and how many of them can be read. */
  readonly files: { readonly named: number; readonly readable: number };
}

const PROMISES: readonly ((evidence: Evidence) => Finding)[] = [
  ({ children, relatives }) => {
    const created = relatives[0]?.log.events.filter(isType('subagent.created')) ?? [];
    return {
      kept:
        created.length === children.length &&
        new Set(children.map(({ threadId }) => threadId)).size === children.length,
      text: `${children.length} researchers made once each: ${children.map(({ name }) => name).join(', ')}`,
    };
  },
  ({ root, parents }) => ({
    kept: parents.length > 0 && parents.every((parent) => parent === `thread/${root.id}`),
    text: `Temporal shows ${parents.length} child workflows below thread/${root.id}`,
  }),
  ({ messages, relatives }) => {
    const sessions = relatives
      .slice(1)
      .flatMap(({ log }) =>
        log.events.filter(({ type, data }) => type === 'execution.ended' && data.reason === 'session_stop'),
      );
    const reports = messages.filter(({ content }) => REPORT_START.test(content ?? ''));
    return {
      kept: sessions.length > 0 && sessions.length === reports.length,
      text: `${sessions.length} sessions of researchers ended, ${reports.length} reports came, each once`,
    };
  },
  ({ files }) => ({
    kept: files.named > 0 && files.named === files.readable,
    text: `${files.readable} notes were copied into the coordinator's own thread, and can be read there`,
  }),
  ({ relatives, crashes }) => {
    const retried = relatives.flatMap(({ log }) => log.events.filter(isType('step.retried')));
    const steps = relatives.flatMap(({ log }) => log.events.filter(isType('step.started')));
    return {
      kept: retried.length === crashes.length,
      text: `${steps.length} model steps in ${relatives.length} threads, ${retried.length} repeated: those that were cut off`,
    };
  },
  ({ messages }) => {
    const said = messages.filter(
      ({ role, silent, metadata }) => role === 'user' && !silent && !metadata.subagent_id,
    );
    const [, ...reviews] = said;
    return {
      kept: reviews.length > 0,
      text: `both sides in one thread: the reviewer spoke ${reviews.length} times between the coordinator's drafts`,
    };
  },
  ({ root }) => ({
    kept: root.stopReason === 'session_stop' && root.status === 'idle',
    text: `the session ended with ${root.stopReason}, and the thread rests (status ${root.status})`,
  }),
  ({ children }) => ({
    kept: children.every(({ status }) => status === 'idle'),
    text: `the researchers can be asked again (status ${[...new Set(children.map(({ status }) => status))].join(', ')})`,
  }),
  ({ relatives }) => ({
    // A child's log is read once its parent reports it: earlier text chunks may be pruned by then, so numbers may be
    // missing.
    kept: relatives.every(({ log }) =>
      log.events.every(({ seq }, index) => seq > (log.events[index - 1]?.seq ?? 0)),
    ),
    text: `${relatives.reduce((sum, { log }) => sum + log.events.length, 0)} events in ${relatives.length} logs, followed live through the crash, in order and once each`,
  }),
];

export async function checkFamily(
  client: RuntimeClient,
  family: FamilyLog,
  crashes: readonly Crash[],
): Promise<Finding[]> {
  const { threadId } = family.root;
  const root = await client.getThread(threadId);
  const { messages } = await client.getMessages(threadId, { limit: 10_000, includeSilent: true });
  const members = await client.getFamily(threadId);
  const children = members.flatMap(({ child, depth }) => (child && depth === 1 ? [child] : []));
  const parents = await Promise.all(children.map((child) => readParent(client, child.threadId)));
  const paths = messages.flatMap(({ content, attachments }) =>
    REPORT_START.test(content ?? '') ? (attachments ?? []).map(({ path }) => path) : [],
  );
  const files = await Promise.all(paths.map((path) => client.files(threadId).read(path)));
  const evidence: Evidence = {
    ...{ root, messages, children, crashes, parents },
    relatives: family.relatives,
    files: { named: paths.length, readable: files.filter((bytes) => bytes !== null).length },
  };
  return PROMISES.map((promise) => promise(evidence));
}

async function readParent({ temporal }: RuntimeClient, threadId: string): Promise<string | null | undefined> {
  const { parentExecution } = await temporal.workflow.getHandle(`thread/${threadId}`).describe();
  return parentExecution?.workflowId;
}

const isType = (wanted: string) => (event: ThreadEvent) => event.type === wanted;
