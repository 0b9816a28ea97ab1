/** The unmodified published A2A client, connected to the A2A endpoint of a test's runtime. */
import { randomUUID } from 'node:crypto';
import {
  type ListTasksRequest,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';

export type A2aBinding = 'JSONRPC' | 'HTTP+JSON';

export function a2aClient(url: string, binding: A2aBinding = 'JSONRPC'): Promise<Client> {
  const transports = [new JsonRpcTransportFactory(), new RestTransportFactory()];
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports,
    preferredTransports: [binding],
  });
  return new ClientFactory(options).createFromUrl(url);
}

const textPart = (text: string): Part => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const dataPart = (value: unknown): Part => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export function sending(
  text: string | readonly Part[],
  more: Partial<Pick<Message, 'messageId' | 'contextId' | 'taskId'>> & {
    readonly returnImmediately?: boolean;
  } = {},
) {
  const { returnImmediately = false, ...ids } = more;
  const message: Message = {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: typeof text === 'string' ? [textPart(text)] : [...text],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...ids,
  };
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    historyLength: undefined,
    returnImmediately,
  };
  return { tenant: '', message, configuration, metadata: undefined };
}

export function asTask(found: unknown): Task {
  return found as Task;
}

export const stateOf = ({ status }: Task): string => nameOf(status?.state);

function nameOf(state: TaskState = TaskState.TASK_STATE_UNSPECIFIED): string {
  return TaskState[state] ?? String(state);
}

export const textsOf = (parts: readonly Part[]): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

export const answerOf = ({ artifacts }: Task): string =>
  artifacts.map(({ parts }) => textsOf(parts)).join('|');

/** Converts the frames of a stream to short words, and assembles the texts of its artifacts as a client does. */
export function heard(frames: readonly StreamResponse[]) {
  const texts = new Map<string, string>();
  const words: string[] = [];
  for (const { payload } of frames) {
    if (payload?.$case === 'task') {
      words.push(`task ${stateOf(payload.value)}`);
      for (const { artifactId, parts } of payload.value.artifacts) texts.set(artifactId, textsOf(parts));
    } else if (payload?.$case === 'statusUpdate') words.push(nameOf(payload.value.status?.state));
    else if (payload?.$case === 'artifactUpdate') {
      const { artifact, append } = payload.value;
      const before = append ? (texts.get(artifact?.artifactId ?? '') ?? '') : '';
      texts.set(artifact?.artifactId ?? '', before + textsOf(artifact?.parts ?? []));
    }
  }
  return { words, texts: [...texts.values()].join('|') };
}

export const listing = (more: Partial<ListTasksRequest> = {}): ListTasksRequest => ({
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageSize: undefined,
  pageToken: '',
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
  ...more,
});

/** Returns the task id of a stream whose first frame is its task. */
export function taskIdOf([first]: readonly StreamResponse[]): string {
  return first?.payload?.$case === 'task' ? first.payload.value.id : '';
}
