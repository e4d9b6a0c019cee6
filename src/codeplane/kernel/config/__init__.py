"""Every setting, with its default; read once at the start and passed down frozen."""

from codeplane.kernel.config.agents import *
from codeplane.kernel.config.ledger import *
from codeplane.kernel.config.models import *
from codeplane.kernel.config.repository import *
from codeplane.kernel.config.section import Capability as Capability
from codeplane.kernel.config.section import Section as Section
from codeplane.kernel.config.section import ToolIdentity as ToolIdentity
from codeplane.kernel.config.section import ToolRisk as ToolRisk
from codeplane.kernel.config.server import *
from codeplane.kernel.config.tools import *
from codeplane.kernel.config.trust import *
from codeplane.kernel.config.work import *


class Config(Section):
    """All settings of one CodePlane."""

    server: ServerConfig = ServerConfig()
    logging: LoggingConfig = LoggingConfig()
    limits: TaskLimits = TaskLimits()
    sessions: SessionConfig = SessionConfig()
    work: WorkConfig = WorkConfig()
    explore: ExploreConfig = ExploreConfig()
    turns: TurnsConfig = TurnsConfig()
    jobs: JobsConfig = JobsConfig()
    artifacts: ArtifactsConfig = ArtifactsConfig()
    schedules: SchedulesConfig = SchedulesConfig()
    retention: RetentionConfig = RetentionConfig()
    ledger: LedgerConfig = LedgerConfig()
    trust: TrustConfig = TrustConfig()
    approvals: ApprovalsConfig = ApprovalsConfig()
    notifications: NotificationsConfig = NotificationsConfig()
    policy: PolicyConfig = PolicyConfig()
    devices: DevicesConfig = DevicesConfig()
    agents: AgentsConfig = AgentsConfig()
    shell: ShellConfig = ShellConfig()
    web: WebConfig = WebConfig()
    embeddings: EmbeddingsConfig = EmbeddingsConfig()
    index: IndexConfig = IndexConfig()
    workspaces: WorkspacesConfig = WorkspacesConfig()
    edits: EditsConfig = EditsConfig()
    refactor: RefactorConfig = RefactorConfig()
    git: GitConfig = GitConfig()
    tests: TestsConfig = TestsConfig()
    mcp: McpConfig = McpConfig()
    tools: ToolsConfig = ToolsConfig()
    observe: ObserveConfig = ObserveConfig()
    models: ModelsConfig = ModelsConfig()
    grpc: GrpcConfig = GrpcConfig()
