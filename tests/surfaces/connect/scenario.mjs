// Pair, list, watch, approve, and be revoked in the middle of a stream, as a program on Node would.
// Arguments: the server's address, the owner's token, an agent's token. Prints one JSON object a step.
import { createClient, Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { AuthService } from "./gen/codeplane/v1/auth_pb.js";
import { ApprovalsService } from "./gen/codeplane/v1/approvals_pb.js";
import { DevicesService } from "./gen/codeplane/v1/devices_pb.js";
import { ErrorSchema } from "./gen/codeplane/v1/error_pb.js";
import { EventsService } from "./gen/codeplane/v1/events_pb.js";
import { OperationService } from "./gen/codeplane/v1/operations_pb.js";
import { ActionStatus } from "./gen/codeplane/v1/types_pb.js";

const [baseUrl, owner, agent, form] = process.argv.slice(2);
const say = (step, found) => console.log(JSON.stringify({ step, ...found }));
const as = (token) => {
  const bearer = (next) => (request) => {
    if (token) request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  const options = { baseUrl, httpVersion: "1.1", interceptors: [bearer] };
  const transport =
    form === "grpcweb"
      ? createGrpcWebTransport(options)
      : createConnectTransport({ ...options, useBinaryFormat: form === "binary" });
  return (service) => createClient(service, transport);
};
const refused = async (call) => {
  try {
    await call();
    return { code: "none" };
  } catch (error) {
    const found = ConnectError.from(error);
    return { code: Code[found.code], error: found.findDetails(ErrorSchema)[0]?.error };
  }
};

say("nobody", await refused(() => as(null)(DevicesService).listDevices({})));
const { code } = await as(owner)(AuthService).createPairingCode({});
say("wrong code", await refused(() => as(null)(AuthService).bindPairingCode({ code: "ZZZZ-ZZZZ", deviceName: "x" })));
const bound = await as(null)(AuthService).bindPairingCode({ code, deviceName: "a phone" });
say("bound", { device: bound.deviceId, renew: bound.renewAfter !== undefined });
say("code again", await refused(() => as(null)(AuthService).bindPairingCode({ code, deviceName: "another" })));
const device = as(bound.token);
const { items } = await device(DevicesService).listDevices({});
say("devices", { current: items.filter((item) => item.isCurrent).map((item) => item.name) });

let asked;
let approved = false;
try {
  for await (const event of device(EventsService).watch({ stream: "action/*", fromNow: true, heartbeatMs: 200 })) {
    if (event.payload.case === "heartbeat" && !asked) {
      asked = refused(() => as(agent)(OperationService).call({ operation: "ledger.retain", idempotencyKey: `once-${form}` }));
      say("asked", await asked);
    } else if (event.payload.case === "proposedActionCreated") {
      const action = event.payload.value;
      say("created", { tool: action.tool, risk: action.riskClass, text: typeof action.preview?.text });
      const listed = await device(ApprovalsService).listApprovals({ status: ActionStatus.PENDING, pageSize: 5 });
      const { item } = await device(ApprovalsService).getApproval({ actionId: action.actionId });
      say("listed", { same: listed.items.some((one) => one.actionId === item.actionId) });
      const itself = () => as(agent)(ApprovalsService).approveAction({ actionId: action.actionId });
      say("agent itself", await refused(itself));
      const { status } = await device(ApprovalsService).approveAction({
        actionId: action.actionId,
        previewHash: item.previewHash,
      });
      say("approved", { status: ActionStatus[status] });
      const late = () => device(ApprovalsService).rejectAction({ actionId: action.actionId, reason: "too late" });
      say("twice", await refused(late));
    } else if (event.payload.case === "proposedActionStatusChanged" && !approved) {
      approved = true;
      say("changed", { status: ActionStatus[event.payload.value.status] });
      await as(owner)(DevicesService).revokeDevice({ deviceId: bound.deviceId });
      say("revoked", {});
    }
  }
  say("ended", { code: "none" });
} catch (error) {
  const found = ConnectError.from(error);
  say("ended", { code: Code[found.code], error: found.findDetails(ErrorSchema)[0]?.error });
}
say("afterwards", await refused(() => device(DevicesService).listDevices({})));
