/** The table of all routes of the HTTP API, from which the server, its document and its tests are generated. */

import { a2aRoutes } from './a2a/routes.ts';
import { agUiRoutes } from './ag-ui/routes.ts';
import { chatRoutes } from './chat/routes.ts';
import { completionRoutes } from './completions/routes.ts';
import type { ApiRoute } from './route.ts';
import { agentRunRoutes } from './routes/agent-run.ts';
import { changeRoutes } from './routes/changes.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files.ts';
import { grantRoutes } from './routes/grants.ts';
import { idleRoutes } from './routes/idle.ts';
import { messageRoutes } from './routes/messages.ts';
import { runRoutes } from './routes/runs.ts';
import { serviceRoutes } from './routes/service.ts';
import { taskRoutes } from './routes/tasks.ts';
import { threadDataRoutes } from './routes/thread-data.ts';
import { threadRoutes } from './routes/threads.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { waitRoutes } from './routes/waits.ts';

export const API_ROUTES: readonly ApiRoute[] = [
  ...serviceRoutes,
  // Before the route of one thread, whose id may be anything else.
  ...changeRoutes,
  ...threadRoutes,
  ...idleRoutes,
  ...messageRoutes,
  ...eventRoutes,
  ...chatRoutes,
  ...completionRoutes,
  ...agUiRoutes,
  ...a2aRoutes,
  ...agentRunRoutes,
  ...waitRoutes,
  ...grantRoutes,
  ...runRoutes,
  ...taskRoutes,
  ...threadDataRoutes,
  ...fileRoutes,
  ...tokenRoutes,
];

/** True if the body of the request is a file. */
export function hasFileBody({ method, url }: Request): boolean {
  if (method !== 'PUT') return false;
  const { pathname } = new URL(url);
  return API_ROUTES.some((each) => each.bytes && each.method === 'put' && each.pattern.test(pathname));
}

/** Routes whose bodies carry a whole conversation, of which the newest messages are used: a long one is cut to them. */
const CONVERSATIONS = /^\/(v1\/chat\/completions|v1\/agents\/[^/]+\/chat|ag-ui\/[^/]+|api\/threads)$/;

/** True if the body of the request is a conversation. */
export function hasConversation({ method, url }: Request): boolean {
  return method === 'POST' && CONVERSATIONS.test(new URL(url).pathname);
}
