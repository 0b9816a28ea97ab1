/** The table of what clients have stored before they signal its id. */
import type { Json } from '../schema/json.ts';

export interface SentContentTable {
  thread_id: string;
  id: string;
  content: Json;
  /** Microseconds since 1970. */
  created_at: number;
}
