/** The table of all routes of Standard Agents that are served: what its client library calls. */
import { fileRoutes } from './routes/files.ts';
import { messageRoutes } from './routes/messages.ts';
import { streamRoutes } from './routes/streams.ts';
import { threadRoutes } from './routes/threads.ts';
import type { StandardRoute } from './standard-route.ts';

export const STANDARD_ROUTES: readonly StandardRoute[] = [
  ...threadRoutes,
  ...messageRoutes,
  ...fileRoutes,
  ...streamRoutes,
];
