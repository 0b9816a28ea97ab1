/** Makes a Temporal service that somebody else started ready for us, or tells why it cannot be used. */
import type { ConnectionOptions } from '@temporalio/client';
import { errorMessage } from '../../core/error.ts';
import { readServerVersion, waitForNamespace, withConnection } from './connect.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { MINIMUM_SERVER_VERSION } from './server-settings.ts';
import { isAtLeast } from './temporal-version.ts';

/** The service answers already, so its namespace is there by now or is not coming. */
const NAMESPACE_WITHIN_MS = 2_000;

/** Resolves to undefined when the service can be used, otherwise to the reason why not; never rejects. */
export async function prepareService(
  service: ConnectionOptions,
  namespace: string,
  progress: (line: string) => void,
): Promise<string | undefined> {
  try {
    return await withConnection(service, async (connection) => {
      const version = await readServerVersion(connection);
      if (isTooOld(version))
        return `it is server ${version}, and ${MINIMUM_SERVER_VERSION} or newer is needed`;
      await waitForNamespace(connection, namespace, Date.now() + NAMESPACE_WITHIN_MS);
      const { missing } = await ensureSearchAttributes(connection, namespace);
      if (missing.length > 0) {
        const names = missing.join(', ');
        progress(
          `Search attributes missing in namespace "${namespace}": ${names}. Threads run without them.`,
        );
      }
      return undefined;
    });
  } catch (error) {
    return errorMessage(error);
  }
}

/** Managed services may tell no version, or one in a form of their own: only plain ones are compared. */
function isTooOld(version: string): boolean {
  return /^\d+\.\d+\.\d+$/.test(version) && !isAtLeast(version, MINIMUM_SERVER_VERSION);
}
