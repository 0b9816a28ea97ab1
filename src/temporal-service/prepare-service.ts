/** Prepares a Temporal service that was started elsewhere, or reports why it cannot be used. */
import type { ConnectionOptions } from '@temporalio/client';
import { errorMessage } from '../core/value/error.ts';
import { findReason } from '../temporal-unreachable.ts';
import { readServerVersion, waitForNamespace, withConnection } from './connect.ts';
import { refusesConnections } from './free-port.ts';
import { statusCode } from './grpc-status.ts';
import { ensureSearchAttributes } from './search-attributes.ts';
import { MINIMUM_SERVER_VERSION } from './server-settings.ts';
import { isAtLeast } from './temporal-version.ts';

/** The service responds already, so a namespace that stays unknown for this long will not appear. */
const NAMESPACE_MISSING_MS = 2_000;
/** Allows for a busy service, whose answers may be late. */
const NAMESPACE_WITHIN_MS = 10_000;
const SEARCH_ATTRIBUTES_WITHIN_MS = 10_000;

/** Codes that a retry does not change: INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const FINAL_CODES = [3, 5, 7, 12, 16];

export interface UnusableService {
  readonly reason: string;
  /** True if the service itself refused; otherwise it did not respond, and a retry may succeed. */
  readonly final: boolean;
}

/** Resolves to undefined when the service can be used, otherwise to the reason; never rejects. */
export async function prepareService(
  service: ConnectionOptions,
  namespace: string,
  progress: (line: string) => void,
): Promise<string | undefined> {
  return (await askService(service, namespace, progress))?.reason;
}

/** Like `prepareService`, for callers that retry: also reports whether the reason is final. */
export async function askService(
  service: ConnectionOptions,
  namespace: string,
  progress: (line: string) => void,
): Promise<UnusableService | undefined> {
  // A gRPC client retries a closed port until its deadline.
  if (await isClosedLocally(service.address)) return { reason: 'nothing listens there', final: false };
  try {
    return await withConnection(service, async (connection) => {
      const version = await readServerVersion(connection);
      if (isTooOld(version)) {
        return {
          reason: `it is server ${version}, and ${MINIMUM_SERVER_VERSION} or newer is needed`,
          final: true,
        };
      }
      await waitForNamespace(connection, namespace, NAMESPACE_WITHIN_MS, NAMESPACE_MISSING_MS);
      const { missing } = await connection.withDeadline(Date.now() + SEARCH_ATTRIBUTES_WITHIN_MS, () =>
        ensureSearchAttributes(connection, namespace),
      );
      if (missing.length > 0) {
        const names = missing.join(', ');
        progress(
          `Search attributes missing in namespace "${namespace}": ${names}. Threads run without them.`,
        );
      }
      return undefined;
    });
  } catch (error) {
    const found = statusCode(error) === undefined ? await findReason(service) : undefined;
    return {
      reason: found ?? errorMessage(error).replace(/\.$/, ''),
      final: FINAL_CODES.includes(statusCode(error) ?? Number.NaN),
    };
  }
}

/** True if nothing listens at a local address. False for other hosts, where a proxy may respond for the service. */
async function isClosedLocally(address = ''): Promise<boolean> {
  const local = /^(127\.0\.0\.1|localhost):(\d+)$/.exec(address);
  return local !== null && refusesConnections(local[1] as string, Number(local[2]));
}

/** Managed services may report no version, or one in their own format: only plain versions are compared. */
function isTooOld(version: string): boolean {
  return /^\d+\.\d+\.\d+$/.test(version) && !isAtLeast(version, MINIMUM_SERVER_VERSION);
}
