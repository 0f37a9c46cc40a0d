# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The feature gates that a kubelet knows, with their history. A table, and nothing else.

Shape: one gate a line; `B24+` means beta since 1.24, on by default; `-` off by default, `!` locked to the default,
`x36` no longer there in 1.36. A alpha, B beta, G stable, D deprecated.
Source: Kubernetes' versioned feature list of 1.33, 1.34 and 1.36, and its feature gate documentation. Every gate of
1.33 and newer is here; of those that older releases had beside them, the ones that a node's operator meets.
"""

from __future__ import annotations

GATES = """
APIListChunking B9+ G29+! x33
APIPriorityAndFairness B20+ G29+! x31
APIResponseCompression A8- B16+
APISelfSubjectReview A26- B27+ G28+! x31
APIServerIdentity A20- B26+
APIServerTracing A22- B27+ G34+!
APIServingWithRoutine A30-
AdmissionWebhookMatchConditions A27- B28+ G30+! x33
AggregatedDiscoveryEndpoint A26- B27+ G30+! x33
AggregatedDiscoveryRemoveBetaType G0- D33+ D35+!
AllowDNSOnlyNodeCSR G0+ D31-
AllowInsecureKubeletCertificateSigningRequests G0+ D31-
AllowOverwriteTerminationGracePeriodSeconds G0+ D32- D35-!
AllowParsingUserUIDFromCertAuth B33+
AllowServiceExternalIPs G0+
AllowServiceLBStatusOnNonLB G0+ D29- D32-! x35
AllowUnsafeMalformedObjectDeletion A32-
AnonymousAuthConfigurableEndpoints A31- B32+ G34+!
AnyVolumeDataSource A18- B24+ G33+!
AppArmor B4+ G31+! x33
AppArmorFields B30+ G31+! x33
AtomicFIFO B36+
AuthorizeNodeWithSelectors A31- B32+ G34+!
AuthorizePodWebsocketUpgradeCreatePermission B35+
AuthorizeWithSelectors A31- B32+ G34+!
BtreeWatchCache B32+ G33+!
CBORServingAndStorage A32-
CPUManager A8- B10+ G26+! x34
CPUManagerPolicyAlphaOptions A23-
CPUManagerPolicyBetaOptions B23+
CPUManagerPolicyOptions A22- B23+ G33+!
CRDObservedGenerationTracking B35- B36+
CRDValidationRatcheting A28- B30+ G33+!
CRIListStreaming A36-
CSIMigrationPortworx A23- B25- B31+ G33+! x36
CSIMigrationRBD A23- D28- x31
CSINodeExpandSecret A25- B27+ G29+! x31
CSIServiceAccountTokenSecrets B35+ G36+!
CSIVolumeHealth A21-
ChangeContainerStatusOnKubeletRestart G0+ D35-
ClearingNominatedNodeNameAfterBinding A34- B35+
ClientsAllowCBOR A32-
ClientsPreferCBOR A32-
CloudControllerManagerWatchBasedRoutesReconciliation A35-
CloudControllerManagerWebhook A27-
CloudDualStackNodeIPs A27- B29+ G30+! x32
ClusterTrustBundle A27- B33-
ClusterTrustBundleProjection A29- B33-
ComponentFlagz A32- B36+
ComponentSLIs A26- B27+ G32+! x35
ComponentStatusz A32- B36+
ConcurrentWatchObjectDecode B31-
ConsistentHTTPGetHandlers G25+ x31
ConsistentListFromCache A28- B31+ G34+!
ConstrainedImpersonation A35- B36+
ContainerCheckpoint A25- B30+
ContainerRestartRules A34- B35+
ContainerStopSignals A33-
ContextualLogging A24- B30+
ControllerManagerReleaseLeaderElectionLockOnExit A36-
CoordinatedLeaderElection A31- B33-
CronJobTimeZone A24- B25+ G27+! x29
CronJobsScheduledAnnotation B28+ G32+! x35
CrossNamespaceVolumeDataSource A26-
CustomCPUCFSQuotaPeriod A12- G36+
CustomResourceFieldSelectors A30- B31+ G32+!
CustomResourceValidationExpressions A23- B25+ G29+! x31
DRAAdminAccess A32- B34+ G36+!
DRAConsumableCapacity A34- B36+
DRAControlPlaneController A26- x32
DRADeviceBindingConditions A34- B36+
DRADeviceTaintRules A35- B36-
DRADeviceTaints A33- B36+
DRAExtendedResource A34- B36+
DRAListTypeAttributes A36-
DRANodeAllocatableResources A36-
DRAPartitionableDevices A33- B36+
DRAPrioritizedList A33- B34+ G36+
DRAResourceClaimDeviceStatus A32- B33+
DRAResourceClaimGranularStatusAuthorization B36+
DRAResourcePoolStatus A36-
DRASchedulerFilterTimeout B34+
DRAWorkloadResourceClaims A36-
DeclarativeValidation B33+ G36+!
DeclarativeValidationBeta B36+
DeclarativeValidationTakeover B33- D36-
DefaultHostNetworkHostPortsInPodTemplates D28- x31
DeploymentReplicaSetTerminatingReplicas A33- B35+
DetectCacheInconsistency B34+
DevicePluginCDIDevices A28- B29+ G31+! x35
DisableAllocatorDualWrite A31- B33- G34+ G35+!
DisableCPUQuotaWithExclusiveCPUs B33+ D36+
DisableCloudProviders A22- B29+ G31+! x33
DisableKubeletCloudCredentialProviders A23- B29+ G31+! x33
DisableNodeKubeProxyVersion A29- D31- D33+ D36+!
DynamicResourceAllocation A26- B32- G34+ G35+!
EfficientWatchResumption A20- B21+ G24+! x33
ElasticIndexedJob B27+ G31+! x34
EnvFiles A34- B35+
EventedPLEG A26- B27- A30-
ExecProbeTimeout G20+ G35+!
ExpandedDNSConfig A22- B26+ G28+! x30
ExperimentalHostUserNamespaceDefaulting B5- D28- x30
ExtendWebSocketsToKubelet B36+
ExternalServiceAccountTokenSigner A32- B34+ G36+!
GangScheduling A35-
GenericWorkload A35-
GitRepoVolumeDriver G0+ D33- D36-!
GracefulNodeShutdown A20- B21+
GracefulNodeShutdownBasedOnPodPriority A23- B24+
HPAConfigurableTolerance A33- B35+
HPAContainerMetrics A20- B27+ G30+! x32
HPAScaleToZero A16-
HonorPVReclaimPolicy A23- B31+ G33+! x36
HostnameOverride A34- B35+
IPTablesOwnershipCleanup A25- B27+ G28+! x30
ImageMaximumGCAge A29- B30+ G35+!
ImageVolume A31- B33- B35+ G36+!
ImageVolumeWithDigest A35-
InOrderInformers B33+
InOrderInformersBatchProcess B35+
InPlacePodLevelResourcesVerticalScaling A35- B36+
InPlacePodVerticalScaling A27- B33+ G35+!
InPlacePodVerticalScalingAllocatedStatus A32- D33- x36
InPlacePodVerticalScalingExclusiveCPUs A32-
InPlacePodVerticalScalingExclusiveMemory A34-
InPlacePodVerticalScalingInitContainers B36+
InTreePluginPortworxUnregister A23- x36
InTreePluginRBDUnregister A23- D28- x31
InformerResourceVersion A30- B35+
JobBackoffLimitPerIndex A28- B29+ G33+!
JobManagedBy A30- B32+ G35+!
JobPodFailurePolicy A25- B26+ G31+! x33
JobPodReplacementPolicy A28- B29+ G34+!
JobReadyPods A23- B24+ G29+! x31
JobSuccessPolicy A30- B31+ G33+!
KMSv1 G0+ D28+ D29-
KMSv2 A25- B27+ G29+! x31
KMSv2KDF B28- G29+! x31
KubeProxyDrainingTerminatingNodes A28- B30+ G31+! x33
KubeletCgroupDriverFromCRI A28- B31+ G34+!
KubeletCrashLoopBackOffMax A32- B35+
KubeletEnsureSecretPulledImages A33- B35+
KubeletFineGrainedAuthz A32- B33+ G36+!
KubeletInUserNamespace A22-
KubeletPSI A33- B34+ G36+!
KubeletPodResources A13- B15+ G28+! x30
KubeletPodResourcesDynamicResources A27- B34+ G36+!
KubeletPodResourcesGet A27- B34+ G36+!
KubeletPodResourcesGetAllocatable A21- B23+ G28+! x30
KubeletPodResourcesListUseActivePods G0- D34+
KubeletRegistrationGetOnExistsOnly G0+ D32-
KubeletSeparateDiskGC A29- B31+
KubeletServiceAccountTokenForCredentialProviders A33- B34+
KubeletTracing A25- B27+ G34+!
LegacyServiceAccountTokenCleanUp A28- B29+ G30+! x32
LegacyServiceAccountTokenTracking B26+ G28+! x30
LegacySidecarContainers G0+ D33- x35
ListFromCacheSnapshot A33- B34+
LoadBalancerIPMode A29- B30+ G32+! x35
LocalStorageCapacityIsolationFSQuotaMonitoring A15- B31-
LogarithmicScaleDown A21- B22+ G31+!
LoggingAlphaOptions A24-
LoggingBetaOptions B24+
ManifestBasedAdmissionControlConfig A36-
MatchLabelKeysInPodAffinity A29- B31+ G33+!
MatchLabelKeysInPodTopologySpread A25- B27+
MatchLabelKeysInPodTopologySpreadSelectorMerge B34+
MaxUnavailableStatefulSet A24- B35-
MemoryManager A21- B22+ G32+! x36
MemoryQoS A22-
MinDomainsInPodTopologySpread A24- B25+ G30+! x32
MinimizeIPTablesRestore A26- B27+ G28+! x30
MultiCIDRServiceAllocator A27- B31- G33+ G34+!
MutableCSINodeAllocatableCount A33- B34- B35+ G36+!
MutablePVNodeAffinity A35-
MutablePodResourcesForSuspendedJobs A35- B36+
MutableSchedulingDirectivesForSuspendedJobs A35- B36+
MutatingAdmissionPolicy A32- B34- G36+
NFTablesProxyMode A29- B31+ G33+!
NativeHistograms A36-
NewVolumeManagerReconstruction B27+ G30+! x32
NodeDeclaredFeatures A35- B36+
NodeInclusionPolicyInPodTopologySpread A25- B26+ G33+!
NodeLogQuery A27- B30- G36+!
NodeOutOfServiceVolumeDetach A24- B26+ G28+! x32
NodeSwap A22- B28- B30+ G34+!
NominatedNodeNameForExpectation A34- B35+
OpenAPIEnums A23- B24+
OpenAPIV3 A23- B24+ G27+! x29
OpportunisticBatching B35+
OrderedNamespaceDeletion B30- B33+ G34+!
PDBUnhealthyPodEvictionPolicy A26- B27+ G31+! x34
PLEGOnDemandRelist B36+
PersistentVolumeClaimUnusedSinceTime A36-
PersistentVolumeLastPhaseTransitionTime A28- B29+ G31+! x33
PodAndContainerStatsFromCRI A23-
PodCertificateRequest A34- B35-
PodDeletionCost A21- B22+
PodDisruptionConditions A25- B26+ G31+! x33
PodHostIPs A28- B29+ G30+! x32
PodIndexLabel B28+ G32+! x35
PodLevelResourceManagers A36-
PodLevelResources A32- B34+
PodLifecycleSleepAction A29- B30+ G34+!
PodLifecycleSleepActionAllowZero A32- B33+ G34+!
PodLogsQuerySplitStreams A32-
PodObservedGenerationTracking A33- B34+ G35+!
PodReadyToStartContainersCondition A28- B29+
PodSchedulingReadiness A26- B27+ G30+!
PodTopologyLabelsAdmission A33- B35+
PodsAPI A36-
PortForwardWebsockets A30- B31+
PreferSameTrafficDistribution A33- B34+ G35+!
PreventStaticPodAPIReferences B34+
ProbeTerminationGracePeriod A21- B22- B25+ G28+! x31
ProcMountType A12- B31- B33+ G36+!
ProxyTerminatingEndpoints A22- B26+ G28+! x30
QOSReserved A11-
ReadWriteOncePod A22- B27+ G29+! x31
RecoverVolumeExpansionFailure A23- B32+ G34+!
RecursiveReadOnlyMounts A30- B31+ G33+!
ReduceDefaultCrashLoopBackOffDecay A33-
RelaxedDNSSearchValidation A32- B33+ G34+!
RelaxedEnvironmentVariableValidation A30- B32+ G34+!
RelaxedServiceNameValidation A34- B36+
ReloadKubeletClientCAFile B36+
ReloadKubeletServerCertificateFile B31+
RemainingItemCount A15- B16+ G29+! x33
RemoteRequestHeaderUID A32- B33+
RemoveSelfLink A16- B20+ G24+! x30
ResilientWatchCacheInitialization B31+ G34+!
ResourceHealthStatus A31- B36+
ResourceHealthStatusMessage B36+
RestartAllContainersOnContainerExits A35- B36+
RetroactiveDefaultStorageClass A25- B26+ G28+! x29
RetryGenerateName A30- B31+ G32+!
RotateKubeletServerCertificate A7- B12+
RuntimeClassInImageCriAPI A29-
SELinuxChangePolicy A32- B33+ G36+!
SELinuxMount A30- B33-
SELinuxMountReadWriteOncePod A25- B27- B28+ G36+!
SchedulerAsyncAPICalls B34-
SchedulerAsyncPreemption A32- B33+
SchedulerPopFromBackoffQ B33+
SchedulerQueueingHints B28- B32+ G34+!
SeccompDefault A22- B25+ G27+! x29
SeparateCacheWatchRPC B28+ D33- D36-!
SeparateTaintEvictionController B29+ G34+!
ServerSideApply A14- B16+ G22+! x32
ServerSideFieldValidation A23- B25+ G27+! x32
ServiceAccountNodeAudienceRestriction B32- B33+
ServiceAccountTokenJTI A29- B30+ G32+!
ServiceAccountTokenNodeBinding A29- B31+ G33+!
ServiceAccountTokenNodeBindingValidation A29- B30+ G32+!
ServiceAccountTokenPodNodeInfo A29- B30+ G32+!
ServiceCIDRStatusFieldWiping G0- D36+
ServiceNodePortStaticSubrange A27- B28+ G29+! x31
ServiceTrafficDistribution A30- B31+ G33+! x36
ShardedListAndWatch A36-
SidecarContainers A28- B29+ G33+!
SizeBasedListCostEstimate B34+
SizeMemoryBackedVolumes A20- B22+ G32+! x35
SkipReadOnlyValidationGCE D28+ D29+! x31
StableLoadBalancerNodeSet B27+ G30+! x32
StaleControllerConsistencyDaemonSet B36+
StaleControllerConsistencyJob B36+
StaleControllerConsistencyReplicaSet B36+
StaleControllerConsistencyStatefulSet B36+
StatefulSetAutoDeletePVC A23- B27+ G32+! x35
StatefulSetSemanticRevisionComparison B0+
StatefulSetStartOrdinal A26- B27+ G31+! x34
StorageCapacityScoring A33-
StorageNamespaceIndex B30+ D33+
StorageVersionAPI A20-
StorageVersionHash A14- B15+
StorageVersionMigrator A30- B35-
StreamingCollectionEncodingToJSON B33+ G34+!
StreamingCollectionEncodingToProtobuf B33+ G34+!
StrictCostEnforcementForVAP B30- G32+! x35
StrictCostEnforcementForWebhooks B30- G32+! x35
StrictIPCIDRValidation A33- B36+
StructuredAuthenticationConfiguration A29- B30+ G34+!
StructuredAuthenticationConfigurationEgressSelector B34+
StructuredAuthenticationConfigurationJWKSMetrics B35+
StructuredAuthorizationConfiguration A29- B30+ G32+! x36
SupplementalGroupsPolicy A31- B33+ G35+!
SystemdWatchdog B32+ G35+!
TaintTolerationComparisonOperators A35-
TokenRequestServiceAccountUIDValidation B34+
TopologyAwareHints A21- B23- B24+ G33+! x36
TopologyAwareWorkloadScheduling A36-
TopologyManager A16- B18+ G27+! x29
TopologyManagerPolicyAlphaOptions A26-
TopologyManagerPolicyBetaOptions B26- B28+
TopologyManagerPolicyOptions A26- B28+ G32+!
TranslateStreamCloseWebsocketRequests A29- B30+
UnauthenticatedHTTP2DOSMitigation B25- B29+
UnknownVersionInteroperabilityProxy A28- B36+
UnlockWhileProcessingFIFO B36+
UserNamespacesHostNetworkSupport A35-
UserNamespacesPodSecurityStandards A29- x35
UserNamespacesSupport A25- B30- B33+ G36+!
ValidatingAdmissionPolicy A26- B28- G30+! x32
VolumeAttributesClass A29- B31- G34+ G36+!
VolumeCapacityPriority A21- x33
VolumeLimitScaling A35-
WatchBookmark A15- B16+ G17+! x33
WatchCacheInitializationPostStartHook B31- B36+
WatchFromStorageWithoutResourceVersion B27- D33-! x36
WatchList A27- B32+ B33- B34+
WatchListClient B30- B35+
WinDSR A14- B33+ G34+!
WinOverlay A14- B20+ G34+!
WindowsCPUAndMemoryAffinity A32-
WindowsGracefulNodeShutdown A32- B34+
WindowsHostNetwork A26- D33-
WorkloadAwarePreemption A36-
WorkloadWithJob A36-
ZeroLimitedNominalConcurrencyShares B29- G30+! x32
"""

# From this release on a gate that can only be on when others are is refused without them, and these are those.
DEPENDENCIES_SINCE = (1, 35)
DEPENDENCIES = {
    "AuthorizeNodeWithSelectors": ("AuthorizeWithSelectors",),
    "ClusterTrustBundleProjection": ("ClusterTrustBundle",),
    "DRAAdminAccess": ("DynamicResourceAllocation",),
    "DRAConsumableCapacity": ("DynamicResourceAllocation",),
    "DRADeviceBindingConditions": ("DynamicResourceAllocation", "DRAResourceClaimDeviceStatus"),
    "DRADeviceTaintRules": ("DRADeviceTaints",),
    "DRADeviceTaints": ("DynamicResourceAllocation",),
    "DRAExtendedResource": ("DynamicResourceAllocation",),
    "DRAPartitionableDevices": ("DynamicResourceAllocation",),
    "DRAPrioritizedList": ("DynamicResourceAllocation",),
    "DRASchedulerFilterTimeout": ("DynamicResourceAllocation",),
    "DeclarativeValidationTakeover": ("DeclarativeValidation",),
    "DisableAllocatorDualWrite": ("MultiCIDRServiceAllocator",),
    "GangScheduling": ("GenericWorkload",),
    "GracefulNodeShutdownBasedOnPodPriority": ("GracefulNodeShutdown",),
    "ImageVolumeWithDigest": ("ImageVolume",),
    "InPlacePodLevelResourcesVerticalScaling": (
        "InPlacePodVerticalScaling",
        "PodLevelResources",
        "NodeDeclaredFeatures",
    ),
    "InPlacePodVerticalScalingAllocatedStatus": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingExclusiveCPUs": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingExclusiveMemory": ("InPlacePodVerticalScaling",),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": ("MatchLabelKeysInPodTopologySpread",),
    "PodCertificateRequest": ("AuthorizeNodeWithSelectors",),
    "PodLevelResourceManagers": ("PodLevelResources",),
    "PodLifecycleSleepActionAllowZero": ("PodLifecycleSleepAction",),
    "ProcMountType": ("UserNamespacesSupport",),
    "ResourceHealthStatus": ("DynamicResourceAllocation",),
    "RestartAllContainersOnContainerExits": ("ContainerRestartRules", "NodeDeclaredFeatures"),
    "ServiceAccountTokenNodeBinding": ("ServiceAccountTokenNodeBindingValidation",),
    "StorageVersionAPI": ("APIServerIdentity",),
    "StructuredAuthenticationConfigurationEgressSelector": ("StructuredAuthenticationConfiguration",),
    "StructuredAuthenticationConfigurationJWKSMetrics": ("StructuredAuthenticationConfiguration",),
    "UnknownVersionInteroperabilityProxy": ("APIServerIdentity",),
    "UserNamespacesHostNetworkSupport": ("UserNamespacesSupport",),
    "WindowsGracefulNodeShutdown": ("GracefulNodeShutdown",),
}
